//! The macro that declares open sets of strings.

/// Declares open sets of strings: known values are constants, any other is kept unchanged.
macro_rules! open_string {
    ($(
        $(#[$meta:meta])*
        pub struct $Name:ident { $( $Const:ident = $value:literal ),+ $(,)? }
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $Name(std::borrow::Cow<'static, str>);

        impl $Name {
            $(
                #[doc = concat!("`", $value, "`")]
                pub const $Const: Self = Self(std::borrow::Cow::Borrowed($value));
            )+

            /// Known values.
            pub const KNOWN: &'static [&'static str] = &[$($value),+];

            /// The value as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// True if the value is a known one.
            pub fn is_known(&self) -> bool {
                Self::KNOWN.contains(&self.as_str())
            }
        }

        impl Default for $Name {
            /// The first of the known values.
            fn default() -> Self {
                Self(std::borrow::Cow::Borrowed(Self::KNOWN[0]))
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match Self::KNOWN.iter().find(|known| **known == text) {
                    Some(known) => Self(std::borrow::Cow::Borrowed(known)),
                    None => Self(std::borrow::Cow::Owned(text.to_owned())),
                }
            }
        }

        impl From<String> for $Name {
            fn from(text: String) -> Self {
                Self::from(text.as_str())
            }
        }

        impl PartialEq<str> for $Name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $Name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{:?}", self.as_str())
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::json::Wire for $Name {
            fn read(
                cursor: &mut $crate::json::Cursor<'_>,
                _: &mut $crate::json::Reading,
            ) -> Result<Self, $crate::json::Misfit> {
                match cursor.text() {
                    Some(text) => Ok(Self::from(&*text.get())),
                    None => Err($crate::json::Misfit::here(cursor, "a string")),
                }
            }

            fn write(&self, out: &mut String) {
                $crate::json::write_string(self.as_str(), out);
            }
        }

        $crate::json::object!(@through_wire $Name);
    )+};
}

pub(crate) use open_string;

//! The owned form of a line, which [`Frame`](crate::Frame) and [`Entry`](crate::entry::Entry) share.

/// Defines the owned form of a borrowed line: its text, its original bytes if they are not UTF-8, and
/// the accessors of the borrowed form.
macro_rules! owned_line {
    (
        $(#[$attribute:meta])*
        pub struct $Owned:ident from $Ref:ident with $Head:ident by $to_owned:ident;
        $( $name:ident($($arg:ident: $Arg:ty),*) -> $Output:ty; )+
    ) => {
        $(#[$attribute])*
        #[derive(Clone)]
        pub struct $Owned {
            text: ::std::sync::Arc<str>,
            /// The original bytes, if they are not UTF-8 and `text` is a lossy conversion of them.
            damaged: Option<::std::sync::Arc<[u8]>>,
            head: $Head,
        }

        impl $Owned {
            pub(super) fn new(text: ::std::sync::Arc<str>, head: $Head) -> Self {
                $Owned { text, damaged: None, head }
            }

            /// Decodes one line.
            pub fn decode(line: &[u8]) -> Result<Self, $crate::DecodeError> {
                $Ref::decode(line).map(|borrowed| borrowed.$to_owned())
            }

            #[doc = concat!("Decodes one line; invalid UTF-8 becomes U+FFFD, and [`", stringify!($Owned), "::is_damaged`]")]
            /// reports it.
            pub fn decode_lossy(line: &[u8]) -> Result<Self, $crate::DecodeError> {
                match Self::decode(line) {
                    Err($crate::DecodeError { kind: $crate::DecodeErrorKind::Utf8, .. }) => {
                        let mut owned = Self::decode(String::from_utf8_lossy(line).as_bytes())?;
                        owned.damaged = Some(line.trim_ascii().into());
                        Ok(owned)
                    }
                    other => other,
                }
            }

            /// The borrowed form.
            pub fn as_ref(&self) -> $Ref<'_> {
                $Ref::from_parts(&self.text, self.head)
            }

            /// Original bytes of the line, without the white space around it.
            pub fn raw(&self) -> &[u8] {
                self.damaged.as_deref().unwrap_or(self.text.as_bytes())
            }

            /// True if the line was not valid UTF-8 and was converted lossily.
            pub fn is_damaged(&self) -> bool {
                self.damaged.is_some()
            }

            $(
                #[doc = concat!("See [`", stringify!($Ref), "::", stringify!($name), "`].")]
                pub fn $name(&self, $($arg: $Arg),*) -> $Output {
                    self.as_ref().$name($($arg),*)
                }
            )+
        }

        impl PartialEq for $Owned {
            fn eq(&self, other: &Self) -> bool {
                self.raw() == other.raw()
            }
        }

        impl Eq for $Owned {}

        impl ::std::fmt::Debug for $Owned {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!(stringify!($Owned), "({})"), self.text)
            }
        }
    };
}

pub(crate) use owned_line;

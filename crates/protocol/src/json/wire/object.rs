//! The macro that declares objects of the wire.

/// Declares objects of the CLI's wire.
///
/// `req`: a missing key is an error. `opt`: an `Option`. `def`: the type's default when absent.
/// `as "key"` when the wire spells the key differently. All other keys go to `extra`.
///
/// `without Debug:` before the objects leaves `Debug` to be written by hand, for objects that hold secrets.
macro_rules! object {
    (without Debug: $($objects:tt)+) => {
        $crate::json::object!(@declare (Clone, PartialEq, Default) $($objects)+);
    };

    (@declare $derived:tt $(
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $( $(#[$fmeta:meta])* $mode:ident $field:ident : $Type:ty $(as $key:literal)? ),* $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        #[derive $derived]
        #[non_exhaustive]
        $vis struct $Name {
            $(
                $(#[$fmeta])*
                #[doc = concat!("`", $crate::json::object!(@key $field $($key)?), "`")]
                pub $field: $crate::json::object!(@type $mode $Type),
            )*
            /// Members that the typed fields would not write back identically.
            pub extra: $crate::json::Extra,
        }

        impl $Name {
            const RULES: &'static [$crate::json::wire::FieldRule] = &[
                $( ($crate::json::object!(@key $field $($key)?), $crate::json::object!(@is_required $mode)), )*
            ];
        }

        impl $crate::json::wire::WireObject for $Name {
            fn read_members(
                cursor: &mut $crate::json::Cursor<'_>,
                reading: &mut $crate::json::Reading,
                consumed: &[&str],
            ) -> Result<Self, $crate::json::Misfit> {
                let mut object = $Name::default();
                let mut members = $crate::json::wire::MemberReader::new(cursor, reading, consumed);
                while let Some(key) = members.next_key() {
                    match &*key.get() {
                        $(
                            $crate::json::object!(@key $field $($key)?) => $crate::json::object!(
                                @read $mode members object $field $crate::json::object!(@key $field $($key)?)
                            ),
                        )*
                        _ => members.unknown(),
                    }
                }
                object.extra = members.finish($Name::RULES)?;
                Ok(object)
            }

            fn write_members(&self, out: &mut $crate::json::wire::ObjectOut<'_>) {
                out.fields_and_extra(&[self], &self.extra);
            }
        }

        impl $crate::json::wire::WireFields for $Name {
            fn write_fields(&self, _out: &mut $crate::json::wire::ObjectOut<'_>) {
                $( $crate::json::object!(@write $mode self $field _out $crate::json::object!(@key $field $($key)?)); )*
            }
        }

        $crate::json::object!(@serde $Name);
    )+};

    (@serde $Name:ident) => {
        impl $crate::json::Wire for $Name {
            fn read(
                cursor: &mut $crate::json::Cursor<'_>,
                reading: &mut $crate::json::Reading,
            ) -> Result<Self, $crate::json::Misfit> {
                $crate::json::wire::read_object(cursor, reading, &[])
            }

            fn write(&self, out: &mut String) {
                $crate::json::wire::write_object(self, out);
            }
        }

        $crate::json::object!(@through_wire $Name);
    };

    (@through_wire $Name:ident) => {
        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::wire::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::wire::deserialize(deserializer)
            }
        }
    };

    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };

    (@type req $Type:ty) => { $Type };
    (@type opt $Type:ty) => { Option<$Type> };
    (@type def $Type:ty) => { $Type };

    (@is_required req) => { true };
    (@is_required opt) => { false };
    (@is_required def) => { false };

    (@read req $members:ident $object:ident $field:ident $key:expr) => {
        $members.required(Self::RULES, $key, &mut $object.$field)
    };
    (@read opt $members:ident $object:ident $field:ident $key:expr) => {
        $members.optional($key, &mut $object.$field)
    };
    (@read def $members:ident $object:ident $field:ident $key:expr) => {
        $members.defaulted($key, &mut $object.$field)
    };

    (@write req $self:ident $field:ident $out:ident $key:expr) => { $out.field($key, &$self.$field) };
    (@write opt $self:ident $field:ident $out:ident $key:expr) => { $out.optional($key, $self.$field.as_ref()) };
    (@write def $self:ident $field:ident $out:ident $key:expr) => { $out.unless_default($key, &$self.$field) };

    ($($objects:tt)+) => {
        $crate::json::object!(@declare (Debug, Clone, PartialEq, Default) $($objects)+);
    };
}

pub(crate) use object;

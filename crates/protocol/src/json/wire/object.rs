/// Declares objects of the CLI's wire.
///
/// `req`: a missing key is an error. `opt`: an `Option`. `def`: the type's default when absent.
/// `as "key"` when the wire spells the key differently. All other keys go to `extra`.
macro_rules! object {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $( $(#[$fmeta:meta])* $mode:ident $field:ident : $Type:ty $(as $key:literal)? ),* $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
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

        impl $crate::json::wire::WireObject for $Name {
            fn read_members(
                cursor: &mut $crate::json::Cursor<'_>,
                reading: &mut $crate::json::Reading,
                consumed: &[&str],
            ) -> Result<Self, $crate::json::Misfit> {
                let mut extra = $crate::json::Extra::default();
                $( let mut $field: $crate::json::wire::Slot<'_, $Type> = $crate::json::wire::Slot::Absent; )*
                while let Some(key) = cursor.next_key() {
                    let key_at = cursor.key_at();
                    match &*key.get() {
                        name if consumed.contains(&name) => {
                            reading.taken += 1;
                            cursor.skip();
                        }
                        $(
                            $crate::json::object!(@key $field $($key)?) => {
                                $field = $crate::json::wire::Slot::take(
                                    cursor,
                                    reading,
                                    $crate::json::object!(@key $field $($key)?),
                                    key_at,
                                );
                            }
                        )*
                        _ => {
                            cursor.skip();
                            extra.keep(cursor.since(key_at));
                        }
                    }
                }
                $(
                    let $field = $crate::json::object!(
                        @finish $mode $field reading extra $crate::json::object!(@key $field $($key)?)
                    );
                )*
                Ok($Name { $($field,)* extra })
            }

            fn write_members(&self, out: &mut $crate::json::wire::ObjectOut<'_>) {
                use $crate::json::wire::WireFields as _;
                self.write_fields(out);
                out.extra(&self.extra, |key| self.writes(key));
            }
        }

        impl $crate::json::wire::WireFields for $Name {
            fn write_fields(&self, out: &mut $crate::json::wire::ObjectOut<'_>) {
                // An object may have no typed fields.
                let _ = &out;
                $( $crate::json::object!(@write $mode self $field out $crate::json::object!(@key $field $($key)?)); )*
            }

            fn writes(&self, key: &str) -> bool {
                match key {
                    $( $crate::json::object!(@key $field $($key)?) => $crate::json::object!(@written $mode self $field), )*
                    _ => false,
                }
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

    (@finish req $field:ident $reading:ident $extra:ident $key:expr) => { $field.required($key)? };
    (@finish opt $field:ident $reading:ident $extra:ident $key:expr) => { $field.optional($reading, &mut $extra) };
    (@finish def $field:ident $reading:ident $extra:ident $key:expr) => { $field.or_default($reading, &mut $extra) };

    (@write req $self:ident $field:ident $out:ident $key:expr) => { $out.field($key, &$self.$field) };
    (@write opt $self:ident $field:ident $out:ident $key:expr) => {
        if let Some(value) = &$self.$field {
            $out.field($key, value);
        }
    };
    (@write def $self:ident $field:ident $out:ident $key:expr) => {
        if !$crate::json::wire::is_default(&$self.$field) {
            $out.field($key, &$self.$field);
        }
    };

    (@written req $self:ident $field:ident) => { true };
    (@written opt $self:ident $field:ident) => { $self.$field.is_some() };
    (@written def $self:ident $field:ident) => { !$crate::json::wire::is_default(&$self.$field) };
}

pub(crate) use object;

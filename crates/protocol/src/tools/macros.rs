//! Macros that declare the enums of inputs and outputs.

/// Declares an enum with one variant per tool, selected by the tool's name, and further variants for the
/// rest.
macro_rules! by_tool {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident {
            $( $Variant:ident($Type:ty), )+
        } else {
            $( $(#[$rmeta:meta])* $Rest:ident($RestType:ty), )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $(
                #[doc = concat!("Of the tool `", stringify!($Variant), "`.")]
                $Variant($Type),
            )+
            $( $(#[$rmeta])* $Rest($RestType), )+
        }

        impl $Name {
            /// Tools with a typed view, by their canonical names.
            pub const TOOLS: &'static [&'static str] = &[$(stringify!($Variant)),+];

            /// Reads the view of a tool; `None` for a tool without one.
            pub(super) fn typed(
                name: &str,
                raw: $crate::json::Raw<'_>,
                reading: &mut $crate::json::Reading,
            ) -> Option<Result<Self, $crate::json::Misfit>> {
                let cursor = &mut raw.cursor();
                match $crate::tools::canonical_name(name) {
                    $( stringify!($Variant) => Some(<$Type as $crate::json::Wire>::read(cursor, reading).map($Name::$Variant)), )+
                    _ => None,
                }
            }
        }

        /// Serializes the value inside; the tool's name is not part of it.
        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( $Name::$Variant(value) => $crate::json::wire::serialize(value, serializer), )+
                    $( $Name::$Rest(value) => $crate::json::wire::serialize(value, serializer), )+
                }
            }
        }
    };
}

/// Declares an enum of objects, distinguished by the string under one key.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident by $tag:literal {
            $( $(#[$vmeta:meta])* $Variant:ident($Type:ty) = $value:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $(
                $(#[$vmeta])*
                #[doc = concat!("\n\nIts `", $tag, "` is `", $value, "`.")]
                $Variant($Type),
            )+
            /// A shape unknown to this version, unchanged.
            Unknown($crate::json::Json),
        }

        impl $crate::json::Wire for $Name {
            fn read(
                cursor: &mut $crate::json::Cursor<'_>,
                reading: &mut $crate::json::Reading,
            ) -> Result<Self, $crate::json::Misfit> {
                if cursor.peek() != b'{' {
                    return Err($crate::json::Misfit::here(cursor, "an object"));
                }
                let tag = cursor.tag($tag).map($crate::json::Text::get);
                match tag.as_deref() {
                    $(
                        Some($value) => {
                            $crate::json::wire::read_object(cursor, reading, &[$tag]).map($Name::$Variant)
                        }
                    )+
                    _ => Ok($Name::Unknown(cursor.raw().to_json())),
                }
            }

            fn write(&self, out: &mut String) {
                match self {
                    $(
                        $Name::$Variant(value) => {
                            let mut object = $crate::json::wire::ObjectOut::open(out);
                            object.string($tag, $value);
                            $crate::json::wire::WireObject::write_members(value, &mut object);
                            object.close();
                        }
                    )+
                    $Name::Unknown(json) => $crate::json::Wire::write(json, out),
                }
            }
        }

        $crate::json::object!(@through_wire $Name);
    };
}

pub(super) use {by_tool, tagged};

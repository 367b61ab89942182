//! Enums of objects, distinguished by one key.

use crate::json::wire::{ObjectOut, WireObject, read_object};
use crate::json::{Raw, Reading};

/// Reads `raw` as the body that belongs to its tag.
///
/// A body that does not fit is recorded in `reading` and dropped, so that one invalid item does not discard
/// its whole list.
pub(crate) fn body<T: WireObject>(raw: Raw<'_>, reading: &mut Reading, tag: &str) -> Option<T> {
    let before = reading.refused.len();
    match read_object(&mut raw.cursor(), reading, &[tag]) {
        Ok(body) => Some(body),
        Err(misfit) => {
            reading.refused.truncate(before);
            reading.refused.push(misfit);
            None
        }
    }
}

/// Writes a body after its tag.
pub(crate) fn write<T: WireObject>(body: &T, tag: &str, value: &str, out: &mut String) {
    let mut object = ObjectOut::open(out);
    object.string(tag, value);
    body.write_members(&mut object);
    object.close();
}

/// Declares enums of objects, distinguished by the value of one key; a value that fits no variant is kept
/// unchanged.
macro_rules! tagged {
    ($(
        $(#[$meta:meta])*
        pub enum $Name:ident by $tag:literal {
            $( $(#[$vmeta:meta])* $Variant:ident($Body:ty) = $value:literal ),+ $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $(
                $(#[$vmeta])*
                #[doc = concat!("`", $tag, "` is `", $value, "`.")]
                $Variant($Body),
            )+
            /// Any other value, unchanged.
            Unknown($crate::json::Json),
        }

        impl $crate::json::Wire for $Name {
            fn read(
                cursor: &mut $crate::json::Cursor<'_>,
                reading: &mut $crate::json::Reading,
            ) -> Result<Self, $crate::json::Misfit> {
                let raw = cursor.raw();
                let tag = raw.get($tag).and_then($crate::json::Raw::text).map($crate::json::Text::get);
                let known = match tag.as_deref() {
                    $( Some($value) => $crate::control::tagged::body(raw, reading, $tag).map($Name::$Variant), )+
                    _ => None,
                };
                Ok(known.unwrap_or_else(|| $Name::Unknown(raw.to_json())))
            }

            fn write(&self, out: &mut String) {
                match self {
                    $( $Name::$Variant(body) => $crate::control::tagged::write(body, $tag, $value, out), )+
                    $Name::Unknown(raw) => $crate::json::Wire::write(raw, out),
                }
            }
        }

        $crate::json::object!(@through_wire $Name);
    )+};
}

pub(crate) use tagged;

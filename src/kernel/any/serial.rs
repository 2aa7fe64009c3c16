//! A saved kernel is its text. It is read by the parser of command lines, which limits
//! nesting, so that no file overflows the stack.

use super::AnyKernel;
use crate::{Kernel, Real};
use alloc::string::{String, ToString};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

impl<T: Real> Serialize for AnyKernel<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.check().map_err(ser::Error::custom)?;
        let text = self.to_string();
        // Digits of other scalars than f32 and f64 might get lost.
        if text.parse().as_ref() == Ok(self) {
            text.serialize(serializer)
        } else {
            Err(ser::Error::custom("the kernel's numbers have no text that reads back as they are"))
        }
    }
}

impl<'de, T: Real> Deserialize<'de> for AnyKernel<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

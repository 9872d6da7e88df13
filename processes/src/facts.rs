//! Facts derived from the row of an image and that of its process.

use crate::totals::cpu_ns;
use crate::tree::{End, Image, ImageId, ProcessTree};

impl ProcessTree {
    /// The known processor time of an image; see [`cpu_ns`].
    #[must_use]
    pub fn cpu_ns(&self, image: &Image) -> Option<u64> {
        cpu_ns(image.used.user_ns, image.used.system_ns)
    }

    /// The end of the process of an image, if that was its last image. Earlier images ended by executing the next.
    #[must_use]
    pub fn end_of(&self, image: ImageId) -> Option<End> {
        let process = self.process(self.image(image).process);
        process.end.filter(|_| process.last_image == image)
    }

    /// The name of the program of an image as it was started, without its folder: `gcc` for `/usr/bin/gcc -c a.c`, even
    /// if that is a link to another file. For a program without arguments it is the name of its file.
    #[must_use]
    pub fn command(&self, image: &Image) -> Option<&str> {
        let name = self.arguments(image).next().or_else(|| self.executable(image))?;
        let base = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
        Some(if base.is_empty() { name } else { base })
    }
}

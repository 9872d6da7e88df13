//! What follows from the row of an image and that of its process.

use crate::totals::cpu_ns;
use crate::tree::{End, Image, ImageId, ProcessTree};

impl ProcessTree {
    /// The processor time of an image, as far as [`cpu_ns`] knows it.
    #[must_use]
    pub fn cpu_ns(&self, image: &Image) -> Option<u64> {
        cpu_ns(image.used.user_ns, image.used.system_ns)
    }

    /// How the process of an image ended, if that was its last image. The ones before ended by executing the next.
    #[must_use]
    pub fn end_of(&self, image: ImageId) -> Option<End> {
        let process = self.process(self.image(image).process);
        process.end.filter(|_| process.last_image == image)
    }

    /// The name of the program of an image as it was started, without its folder: `gcc` of `/usr/bin/gcc -c a.c`, even if
    /// that is a link to another file. Of a program without arguments it is the name of its file.
    #[must_use]
    pub fn command(&self, image: &Image) -> Option<&str> {
        let name = self.arguments(image).next().or_else(|| self.executable(image))?;
        let base = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
        Some(if base.is_empty() { name } else { base })
    }
}

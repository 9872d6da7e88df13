//! The page: its files, which are part of the binary.

use std::sync::{LazyLock, OnceLock};

use hyper::body::Bytes;

use crate::comments::{tightened, without_comments};
use crate::encoder::gzip;

/// A file of the page.
pub(crate) struct Asset {
    /// Its path.
    pub(crate) path: &'static str,
    bytes: &'static [u8],
    packed: OnceLock<PackedAsset>,
}

struct PackedAsset {
    gzip: Bytes,
    tag: String,
}

macro_rules! assets {
    ($($path:literal),* $(,)?) => {
        /// All files of the page.
        static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| vec![$(Asset {
            path: $path,
            bytes: include_bytes!(concat!("../page/", $path)),
            packed: OnceLock::new(),
        }),*]);
    };
}

assets! {
    "answer.js",
    "app.css",
    "ask.js",
    "asked_rows.js",
    "cell.js",
    "chart.js",
    "completion.js",
    "context.js",
    "dom.js",
    "field_tree.js",
    "flame_cells.js",
    "frame.js",
    "growth_paths.js",
    "icicle.js",
    "index.html",
    "keys.js",
    "known_fields.js",
    "lane_times.js",
    "lanes_chart.js",
    "link_menu.js",
    "links.js",
    "main.js",
    "map_words.js",
    "overview.js",
    "path_answers.js",
    "picture.js",
    "rows_table.js",
    "section.js",
    "served.js",
    "slots.js",
    "snapshots_chart.js",
    "squarify.js",
    "state.js",
    "suspects.js",
    "tree_nodes.js",
    "tree_rows.js",
    "tree_table.js",
    "treemap.js",
    "trial_charts.js",
    "trial_values.js",
    "value_text.js",
    "views.css",
    "views/answer.js",
    "views/files.js",
    "views/flame.js",
    "views/help.js",
    "views/lanes.js",
    "views/list.js",
    "views/metric.js",
    "views/object.js",
    "views/objects.js",
    "views/search.js",
    "views/series.js",
    "views/tree.js",
    "views/trials.js",
    "views/types.js",
    "virtual_rows.js",
}

impl Asset {
    /// The asset of this path; `/` is the page itself.
    pub(crate) fn at(path: &str) -> Option<&'static Asset> {
        let path = path.strip_prefix('/')?;
        let path = if path.is_empty() { "index.html" } else { path };
        ASSETS.iter().find(|asset| asset.path == path)
    }

    /// Its bytes. In a debug build they are read from the folder `BARROW_PAGE`, so that a page can be changed while it
    /// is served.
    pub(crate) fn bytes(&self) -> Bytes {
        if cfg!(debug_assertions)
            && let Some(folder) = std::env::var_os("BARROW_PAGE")
            && let Ok(bytes) = std::fs::read(std::path::Path::new(&folder).join(self.path))
        {
            return bytes.into();
        }
        Bytes::from_static(self.bytes)
    }

    /// Its bytes as gzip, without comments, and the tag of this version.
    pub(crate) fn packed(&self) -> (Bytes, &str) {
        let packed = self.packed.get_or_init(|| {
            let gzip = match std::str::from_utf8(self.bytes) {
                Ok(text) if self.path.ends_with(".css") => gzip(tightened(&without_comments(text)).as_bytes()),
                Ok(text) => gzip(without_comments(text).as_bytes()),
                Err(_) => gzip(self.bytes),
            };
            // The last eight bytes of a gzip stream are a checksum and the length.
            let tag = gzip[gzip.len() - 8..].iter().map(|byte| format!("{byte:02x}")).collect();
            PackedAsset { gzip: gzip.into(), tag }
        });
        (packed.gzip.clone(), &packed.tag)
    }

    /// Its media type.
    pub(crate) fn content_type(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/plain; charset=utf-8",
        }
    }
}

/// All files as in the repository, with their paths.
#[cfg(test)]
pub(crate) fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    ASSETS.iter().filter_map(|asset| Some((asset.path, std::str::from_utf8(asset.bytes).ok()?)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn files(folder: &Path, below: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let name = format!("{below}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                files(&entry.path(), &format!("{name}/"), found);
            } else {
                found.push(name);
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut found = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("page"), "", &mut found);
        found.retain(|name| !name.ends_with(".md") && !name.contains("LICENSE"));
        found.sort();
        let mut served: Vec<&str> = ASSETS.iter().map(|asset| asset.path).collect();
        served.sort_unstable();
        assert_eq!(served, found);
    }

    #[test]
    fn the_page_is_small() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.packed().0.len()).sum();
        // A view needs a part of them; all together are there in a second over a slow line of 1.2 Mbit/s.
        assert!(bytes <= 150_000, "{bytes} bytes compressed");
    }
}

//! The usual memory limit: three quarters of the memory that is free.
//!
//! ```text
//!   /proc/meminfo       MemAvailable             free memory of the machine
//!   /proc/self/cgroup   the groups of the process, version 1 or 2
//!     └─ of each group and of those above it: limit − used + page cache
//! ```

use std::fs;
use std::path::{Path, PathBuf};

/// The limit on systems that do not report free memory. This is a judgement: most machines that such heaps come from
/// have more.
const ELSEWHERE_BYTES: u64 = 8 << 30;

/// Three quarters of the free memory: of the machine, or of the control group that has least. 8 GiB on systems that do
/// not report it.
pub(super) fn usual_limit_bytes() -> u64 {
    free_bytes(&|path: &Path| fs::read_to_string(path).ok()).map_or(ELSEWHERE_BYTES, |free| free / 4 * 3)
}

/// The bytes that this process can use, if the system reports them. `read` returns the text of a file.
fn free_bytes(read: &impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let available = available_bytes(&read(Path::new("/proc/meminfo"))?)?;
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let of_groups = groups.lines().filter_map(Group::of_line).flat_map(|group| group.free_bytes(read));
    Some(of_groups.fold(available, u64::min))
}

/// `MemAvailable` of `/proc/meminfo`.
fn available_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// A control group that can limit memory.
struct Group<'g> {
    files: Files,
    /// Its path below the folder of all groups.
    path: &'g str,
}

/// The files of a version of control groups.
struct Files {
    folder: &'static str,
    limit: &'static str,
    used: &'static str,
    /// The names in the statistics for the page cache of the group and those below it.
    cached: [&'static str; 2],
}

const VERSION_1: Files = Files {
    folder: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_active_file", "total_inactive_file"],
};
const VERSION_2: Files = Files {
    folder: "/sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    cached: ["active_file", "inactive_file"],
};

impl<'g> Group<'g> {
    /// From a line of `/proc/self/cgroup`: `0::/path` in version 2, `4:memory:/path` in version 1.
    fn of_line(line: &'g str) -> Option<Self> {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let files = match (number, controllers) {
            ("0", "") => VERSION_2,
            _ if controllers.split(',').any(|controller| controller == "memory") => VERSION_1,
            _ => return None,
        };
        Some(Group { files, path: path.trim_start_matches('/') })
    }

    /// The free bytes of the group and of all groups above it, except those without a limit. In a container the path may
    /// be that of the host: then only the folder of all groups exists.
    fn free_bytes(&self, read: &impl Fn(&Path) -> Option<String>) -> Vec<u64> {
        let top = PathBuf::from(self.files.folder);
        let own = top.join(self.path);
        let folders = own.ancestors().take_while(|folder| folder.starts_with(&top));
        folders.filter_map(|folder| self.files.free_bytes(|name| read(&folder.join(name)))).collect()
    }
}

impl Files {
    /// The limit less the used bytes. The page cache counts as free, because the system can reclaim it.
    fn free_bytes(&self, read: impl Fn(&str) -> Option<String>) -> Option<u64> {
        // `max` is no limit. Version 1 then has a number above any memory.
        let limit: u64 = read(self.limit)?.trim().parse().ok()?;
        let used: u64 = read(self.used)?.trim().parse().ok()?;
        let statistics = read("memory.stat").unwrap_or_default();
        let lines = statistics.lines().filter_map(|line| line.split_once(' '));
        let values = lines.filter(|(name, _)| self.cached.contains(name));
        let cached = values.filter_map(|(_, value)| value.trim().parse().ok()).fold(0u64, u64::saturating_add);
        Some(limit.saturating_sub(used.saturating_sub(cached)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       24111740 kB\nMemFree:          123 kB\nMemAvailable:    1048576 kB\n";

    fn free(files: &[(&str, &str)]) -> Option<u64> {
        free_bytes(&|path: &Path| {
            let text = files.iter().find(|(name, _)| Path::new(name) == path);
            text.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn a_machine_has_what_it_says() {
        assert_eq!(free(&[("/proc/meminfo", MEMINFO)]), Some(1 << 30));
        assert_eq!(free(&[]), None);
        assert_eq!(free(&[("/proc/meminfo", "MemTotal: 7 kB\n")]), None);
        assert_eq!(free(&[("/proc/meminfo", "MemAvailable: 99999999999999999999 kB\n")]), None);
    }

    #[test]
    fn a_group_of_version_2_limits_it() {
        let of_group = |limit, used, statistics| {
            free(&[
                ("/proc/meminfo", MEMINFO),
                ("/proc/self/cgroup", "0::/user.slice/a:b\n"),
                ("/sys/fs/cgroup/user.slice/a:b/memory.max", limit),
                ("/sys/fs/cgroup/user.slice/a:b/memory.current", used),
                ("/sys/fs/cgroup/user.slice/a:b/memory.stat", statistics),
            ])
        };
        assert_eq!(of_group("1000\n", "300\n", "anon 200\nactive_file 40\ninactive_file 60\n"), Some(800));
        assert_eq!(of_group("1000\n", "2000\n", ""), Some(0));
        assert_eq!(of_group("max\n", "300\n", ""), Some(1 << 30));
        assert_eq!(of_group("9999999999999\n", "300\n", ""), Some(1 << 30));
        assert_eq!(of_group("nonsense", "300\n", ""), Some(1 << 30));
    }

    #[test]
    fn the_least_of_the_groups_above_counts() {
        let files = [
            ("/proc/meminfo", MEMINFO),
            ("/proc/self/cgroup", "1:name=systemd:/x\n4:cpu,memory:/outer/inner\n0::/other\nno group\n"),
            ("/sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/outer/inner/memory.usage_in_bytes", "5000"),
            ("/sys/fs/cgroup/memory/outer/memory.limit_in_bytes", "700"),
            ("/sys/fs/cgroup/memory/outer/memory.usage_in_bytes", "500"),
            ("/sys/fs/cgroup/memory/outer/memory.stat", "active_file 300\ntotal_active_file 100\n"),
        ];
        assert_eq!(free(&files), Some(300));
    }

    #[test]
    fn the_groups_of_a_container_are_at_the_top() {
        let files = [
            ("/proc/meminfo", MEMINFO),
            ("/proc/self/cgroup", "0::/docker/1234\n"),
            ("/sys/fs/cgroup/memory.max", "5000"),
            ("/sys/fs/cgroup/memory.current", "1000"),
        ];
        assert_eq!(free(&files), Some(4000));
    }

    #[test]
    fn there_is_a_usual_limit() {
        assert!(usual_limit_bytes() > 0);
    }
}

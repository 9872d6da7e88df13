//! Small logs of each format, by hand.

/// A wrapper that begins, as Kleknev writes it.
pub(crate) fn begin(pid: u64, us: u64, host: &str, parent: Option<u64>, arguments: &[&str]) -> String {
    let parent = parent.map_or(String::new(), |parent| format!("  <parentPid value=\"{parent}\" />\n"));
    let arguments: String = arguments.iter().map(|argument| format!("    <a>{argument}</a>\n")).collect();
    format!(
        "<e>\n  <pid value=\"{pid}\" />\n  <wallTime sec=\"1700000000\" nSec=\"{}\" />\n  <hostName name=\"{host}\" />\n{parent}  \
         <workingDir path=\"/srv/cards\" />\n  <argv>\n{arguments}  </argv>\n</e>\n",
        us * 1000
    )
}

/// A wrapper that ends.
pub(crate) fn end(pid: u64, us: u64, host: &str, status: u64, user_us: u64, peak_kib: u64) -> String {
    format!(
        "<e>\n  <pid value=\"{pid}\" />\n  <wallTime sec=\"1700000000\" nSec=\"{}\" />\n  <hostName name=\"{host}\" />\n  \
         <exitStatus value=\"{status}\" />\n  <resourceUsage userSec=\"0\" userUSec=\"{user_us}\" systemSec=\"0\" \
         systemUSec=\"1\" maxRSS=\"{peak_kib}\" dataMemUsed=\"0\" stackMemUsed=\"0\" minorFaults=\"10\" majorFaults=\"0\" \
         nSwaps=\"0\" blocksIn=\"1\" blocksOut=\"2\" msgSent=\"0\" msgReceived=\"0\" signals=\"0\" voluntarySwitches=\"3\" \
         involuntarySwitches=\"4\" />\n</e>\n",
        us * 1000
    )
}

/// A log of Kleknev: a process with a child, in a build of one host.
pub(crate) fn kleknev() -> String {
    [
        "<kleknevMagicNumber />\n".to_owned(),
        begin(7, 1, "a", None, &["/bin/sh", "-c", "make &#32;'sp&#-61;&#-92;t' &gt; &lt;x&gt; &amp;&amp; y"]),
        begin(9, 2, "a", Some(7), &["/bin/sh", "-c", "gcc a.c"]),
        end(9, 5, "a", 1, 30, 0),
        end(7, 8, "a", 2, 40, 0),
    ]
    .concat()
}

/// A log of ninja: a command with two outputs, one after it.
pub(crate) const NINJA: &str = "# ninja log v5\n\
    0\t29\t1795429206630124186\ta.o\t179ccd21a11a38fc\n\
    0\t38\t0\tb.o\tb3f90a7a9068a778\n\
    0\t38\t0\tb.h\tb3f90a7a9068a778\n\
    38\t68\t0\tsub/game\t3fcbeb9340556a\n";

/// A profile of Bazel: an action that ran a process, and one that ran none.
pub(crate) const BAZEL: &str = r#"{"otherData":{"bazel_version":"release 8.4.1","build_id":"b","output_base":"/o","profile_start_ts":1700000000000},"traceEvents":[
    {"name":"thread_name","ph":"M","pid":1,"tid":3,"args":{"name":"x"}},
    {"cat":"action processing","name":"Writing file a","ph":"X","ts":5,"dur":2,"pid":1,"out":"bin/a","args":{"target":"//a"},"tid":4},
    {"cat":"general information","name":"subprocess.run","ph":"X","ts":12,"dur":30,"pid":1,"tid":3},
    {"cat":"action processing","name":"Compiling a.c","ph":"X","ts":10,"dur":40,"pid":1,"out":"bin/a.o","args":{"target":"//a:a","mnemonic":"CppCompile"},"tid":3}
  ]
}
"#;

/// A log of strace: a child that acts before the line that names it, a thread that executes, a kill.
pub(crate) const STRACE: &str = r#"7 1700000000.000001 execve("/bin/make", ["make", "-j2"], 0x7ffe /* 3 vars */) = 0
7 1700000000.000002 getcwd("/srv/cards", 4096) = 11
7 1700000000.000003 vfork( <unfinished ...>
8 1700000000.000004 chdir("sub") = 0
8 1700000000.000005 execve("/usr/local/bin/gcc", ["gcc"], 0x7ffe /* 3 vars */) = -1 ENOENT (No such file or directory)
8 1700000000.000006 execve("/bin/gcc", ["gcc", "sp\303\244t.c", "cut"...], 0x7ffe /* 3 vars */ <unfinished ...>
7 1700000000.000007 <... vfork resumed>) = 8
8 1700000000.000008 <... execve resumed>) = 0
8 1700000000.000009 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0}, 88) = 9
9 1700000000.000010 fork() = 10
10 1700000000.000011 +++ exited with 1 +++
9 1700000000.000012 --- SIGCHLD {si_signo=SIGCHLD, si_pid=10} ---
9 1700000000.000013 execve("/bin/ld", ["ld"], 0x7ffe /* 3 vars */ <pid changed to 8 ...>
8 1700000000.000014 +++ superseded by execve in pid 9 +++
8 1700000000.000015 <... execve resumed>) = 0
8 1700000000.000016 +++ killed by SIGKILL +++
7 1700000000.000017 exit_group(2) = ?
7 1700000000.000018 +++ exited with 2 +++
"#;

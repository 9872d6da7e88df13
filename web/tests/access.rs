//! Requests that are answered at all: Host, token, other sites, methods, headers.

use crate::browser::Page;

fn page() -> Page {
    Page::bundled(&["orders.barrow"])
}

#[test]
fn only_this_host_is_answered() {
    let page = page();
    let status = |host: &str| {
        page.request("GET", "/api/files", &format!("{host}Authorization: Bearer {}\r\n", page.token)).status
    };
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        assert_eq!(status(&format!("Host: {host}:{}\r\n", page.port)), 200, "{host}");
    }
    let other = ["evil.example", "127.0.0.1.evil.example", "127.0.0.2", "0.0.0.0", "127.1"];
    for host in other {
        assert_eq!(status(&format!("Host: {host}:{}\r\n", page.port)), 421, "{host}");
    }
    for host in ["127.0.0.1", "localhost", "127.0.0.1:1", "", "é"] {
        assert_eq!(status(&format!("Host: {host}\r\n")), 421, "{host}");
    }
    assert_eq!(status(""), 421);
    let ours = format!("Host: 127.0.0.1:{}\r\n", page.port);
    assert_eq!(status(&format!("{ours}Host: evil.example\r\n")), 421);
}

#[test]
fn only_the_token_lets_in() {
    let page = page();
    let (host, token) = (format!("Host: 127.0.0.1:{}\r\n", page.port), &page.token);
    assert!(token.len() == 32 && token.chars().all(|digit| digit.is_ascii_hexdigit()), "{token}");
    // The page itself is the same for everybody.
    for path in ["/", "/main.js", "/?token=x"] {
        let reply = page.request("GET", path, &host);
        assert!(reply.status == 200 && !reply.headers.contains_key("set-cookie"), "{path}: {reply:?}");
        assert!(!reply.text().contains(token) && !reply.text().contains("orders"), "{path}");
    }
    assert_eq!(page.request("POST", "/", &host).status, 405);
    for path in ["/api/files", "/api/verbs", "/api/ask?q=top", "/api/csv?q=top", "/api/events", "/api/no"] {
        let reply = page.request("GET", path, &host);
        assert_eq!(reply.status, 401, "{path}");
        assert!(reply.message().contains("barrow serve"), "{}", reply.text());
    }
    assert_eq!(page.request("POST", "/api/import?f=0", &host).status, 401);
    let wrong =
        [String::new(), "0".repeat(32), token[..31].to_owned(), format!("{token}0"), token.to_uppercase() + "x"];
    for wrong in wrong {
        assert_eq!(page.request("GET", "/api/files", &format!("{host}Authorization: Bearer {wrong}\r\n")).status, 401);
    }
    // Only the header: browsers send cookies to other servers, and addresses are remembered.
    for path in ["/api/files", &format!("/api/files?token={token}")] {
        let cookies = format!("{host}Cookie: barrow-{}={token}; token={token}\r\n", page.port);
        assert_eq!(page.request("GET", path, &cookies).status, 401, "{path}");
    }
    assert_eq!(page.request("GET", "/api/files", &format!("{host}Authorization: Bearer {token}\r\n")).status, 200);
}

#[test]
fn other_pages_get_nothing() {
    let page = page();
    let status = |more: &str| page.request("GET", "/api/files", &format!("{}{more}", page.own())).status;
    for site in ["cross-site", "same-site", "", "x"] {
        assert_eq!(status(&format!("Sec-Fetch-Site: {site}\r\n")), 403, "{site}");
    }
    for origin in ["null", "http://evil.example", "https://127.0.0.1", "http://127.0.0.1:1"] {
        assert_eq!(status(&format!("Origin: {origin}\r\n")), 403, "{origin}");
    }
    assert_eq!(status("Sec-Fetch-Site: same-origin\r\n"), 200);
    assert_eq!(status("Sec-Fetch-Site: none\r\n"), 200);
    let ours = format!("Origin: http://127.0.0.1:{}\r\n", page.port);
    assert_eq!(status(&ours), 200);
    // Of two, each counts.
    for both in [format!("{ours}Origin: http://evil.example\r\n"), format!("Origin: null\r\n{ours}")] {
        assert_eq!(status(&both), 403, "{both}");
    }
    assert_eq!(status("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n"), 403);
}

#[test]
fn each_address_has_its_method() {
    let page = page();
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "X"] {
        for path in ["/", "/api/files", "/api/import?f=0"] {
            assert_eq!(page.request(method, path, &page.own()).status, 405, "{method} {path}");
        }
    }
    for path in ["/", "/api/files", "/api/ask?q=top", "/api/csv?q=top", "/api/events"] {
        assert_eq!(page.post(path).status, 405, "{path}");
    }
    assert_eq!(page.get("/api/import?f=0").status, 405);
    let reply = page.request("HEAD", "/api/files", &page.own());
    assert!(reply.status == 200 && reply.body.is_empty());
}

#[test]
fn every_response_forbids_what_the_page_does_not_need() {
    let page = page();
    let replies = [page.get("/"), page.get("/api/ask?q=top"), page.get("/none"), page.post("/"), page.get("/main.js")];
    for reply in replies {
        let header = |name: &str| reply.headers.get(name).cloned().unwrap_or_default();
        let policy = header("content-security-policy");
        for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin");
        assert!(!reply.headers.keys().any(|name| name.starts_with("access-control")), "{reply:?}");
    }
}

#[test]
fn paths_lead_to_the_files_of_the_page_and_nowhere_else() {
    let page = page();
    assert!(page.get("/app.css").headers["content-type"].starts_with("text/css"));
    let beyond = [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "/%2e%2e/Cargo.toml",
        "//etc/passwd",
        "/./main.js",
        "/vendor/../main.js",
        "/main.js%00",
        "/main.js/",
        "/api/",
        "/API/FILES",
        "/orders.barrow",
        "*",
    ];
    for path in beyond {
        assert_eq!(page.get(path).status, 404, "{path}");
    }
}

#[test]
fn heads_have_an_end() {
    let page = page();
    assert_eq!(page.get(&format!("/api/ask?q={}", "x".repeat(8 << 10))).status, 400);
    assert_eq!(page.get(&format!("/api/ask?q=top&w={}", "x".repeat((8 << 10) + 1))).status, 414);
    for length in [(8 << 10) + 1, 30_000, 61_400, 65_500, 65_534, 65_535, 200_000, 1 << 20, 50 << 20] {
        for path in ["api/ask?q=", "api/csv?q=top&f=0&s=", "", "http://localhost/"] {
            let reply = page.get(&format!("/{path}{}", "x".repeat(length)));
            if length > 61_440 || path == "api/ask?q=" {
                assert!(reply.status == 414 && reply.message().contains("at most 8 KiB"), "{path} {length}: {reply:?}");
            } else {
                assert!([400, 404].contains(&reply.status), "{path} {length}: {reply:?}");
            }
        }
    }
    let many: String = (0..1000).map(|number| format!("X{number}: 1\r\n")).collect();
    assert_eq!(page.request("GET", "/api/files", &(page.own() + &many)).status, 431);
    let long = format!("X: {}\r\n", "x ".repeat(8 << 20));
    assert_eq!(page.request("GET", "/api/files", &(page.own() + &long)).status, 431);
}

#[test]
fn a_connection_goes_on_after_a_long_address() {
    let page = page();
    let long = format!("GET /api/ask?q={} HTTP/1.1\r\n{}\r\n", "x".repeat(1 << 20), page.own());
    let next = format!("GET /api/files HTTP/1.1\r\n{}Connection: close\r\n\r\n", page.own());
    let mut text = String::new();
    std::io::Read::read_to_string(&mut page.open(&(long + &next)), &mut text).expect("two responses");
    assert!(
        text.starts_with("HTTP/1.1 414 ") && text.contains("HTTP/1.1 200 ") && text.contains("\"files\""),
        "{text}"
    );
}

#[test]
fn idle_connections_give_way() {
    let page = page();
    let begun = std::time::Instant::now();
    let idle = || ["", "G", "GET / HTTP/1.1\r\nHost: "].iter().cycle().take(100).map(|head| page.open(head));
    let mut idle: Vec<_> = idle().collect();
    // One of whom an answer is read does not give way, wherever it stands in the line.
    let mut events = page.open(&format!("GET /api/events HTTP/1.1\r\n{}\r\n", page.own()));
    assert!(std::io::Read::read(&mut events, &mut [0; 16]).is_ok_and(|read| read > 0));
    idle.extend((0..100).map(|_| page.open("")));
    for _ in 0..20 {
        assert_eq!(page.get("/api/files").status, 200);
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    let ended = std::io::Read::read(&mut idle[0], &mut [0; 1000]);
    assert!(ended.is_ok_and(|read| read == 0), "the first has ended");
    events.set_nonblocking(true).unwrap();
    let goes_on = loop {
        match std::io::Read::read(&mut events, &mut [0; 1000]) {
            Ok(0) => break false,
            Ok(_) => {}
            Err(error) => break error.kind() == std::io::ErrorKind::WouldBlock,
        }
    };
    assert!(goes_on, "events are still sent");
}

#[test]
fn connections_without_requests_end() {
    let page = page();
    let begun = std::time::Instant::now();
    for head in ["", "G", "GET / HTTP/1.1\r\nHost: "] {
        let ended = std::io::Read::read_to_end(&mut page.open(head), &mut Vec::new());
        assert!(ended.is_ok(), "{ended:?}");
    }
    assert!(begun.elapsed().as_secs() < 50, "{:?}", begun.elapsed());
}

//! Which hosts, origins and addresses are taken, and which only look like those.

use super::*;

#[test]
fn origins_of_loopback_are_welcome_and_what_looks_like_one_is_not() {
    let settings = HttpSettings::default().with_origin("https://App.example.com:443/").unwrap();
    for origin in [
        "http://localhost",
        "http://localhost:3000",
        "http://127.0.0.1:1",
        "http://[::1]",
        "http://[::1]:6274",
        "https://app.example.com",
    ] {
        assert!(settings.is_welcome(origin), "{origin}");
    }
    for origin in [
        "null",
        "",
        "https://localhost:3000",
        "http://localhost.evil.test",
        "http://localhost:3000.evil.test",
        "http://localhost:",
        "http://localhost:99999",
        "http://evil.test:80@localhost",
        "http://127.0.0.2",
        "http://127.0.0.1.evil.test",
        "http://[::1",
        "http://::1",
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://app.example.com/",
    ] {
        assert!(!settings.is_welcome(origin), "{origin}");
    }
}

#[test]
fn hosts_are_those_of_loopback_at_the_bound_port_and_those_on_the_list() {
    let bound = Bound::At("127.0.0.1:8420".parse().unwrap());
    let settings = HttpSettings::default().with_host("tools.example.com").unwrap();
    let settings = settings.with_host("other.example.com:8443").unwrap();
    let answers = |host: &str| settings.answers_to(&host.parse().unwrap(), bound);
    for host in [
        "localhost:8420",
        "LocalHost:8420",
        "127.0.0.1:8420",
        "[::1]:8420",
        "tools.example.com",
        "tools.example.com:1",
        "other.example.com:8443",
    ] {
        assert!(answers(host), "{host}");
    }
    for host in [
        "localhost",
        "localhost:80",
        "localhost:8421",
        "evil.test:8420",
        "127.1:8420",
        "127.0.0.2:8420",
        "other.example.com",
        "localhost.:8420",
        "0x7f.1:8420",
    ] {
        assert!(!answers(host), "{host}");
    }
}

#[test]
fn what_is_no_host_origin_or_public_address_is_refused() {
    let settings = HttpSettings::default;
    for host in ["", "a b", "http://x", "u@x"] {
        assert!(settings().with_host(host).is_err(), "{host}");
    }
    for origin in ["", "null", "*", "x", "https://x/path", "https://u@x", "ftp://x", "https://x?y"] {
        assert!(settings().with_origin(origin).is_err(), "{origin}");
    }
    for url in ["", "http://tools.example.com", "https://x/path", "https://u:p@x", "https://x/?q", "x"] {
        assert!(settings().with_public_url(url).is_err(), "{url}");
    }
    let settings = settings().with_public_url("https://tools.example.com:8443").unwrap();
    let host = |text: &str| text.parse::<Authority>().unwrap();
    assert_eq!(settings.base(&host("tools.example.com:8443")), "https://tools.example.com:8443");
    assert_eq!(settings.base(&host("127.0.0.1:8420")), "http://127.0.0.1:8420");
    assert!(settings.is_welcome("https://tools.example.com:8443"));
}

#[tokio::test]
async fn an_address_that_is_in_use_is_said_to_be() {
    let settings = HttpSettings::default();
    let listener = settings.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let refused = settings.listen(address).await.unwrap_err();
    assert!(matches!(refused, ListenError::InUse(named) if named == address), "{refused:?}");
}

#[tokio::test]
async fn only_loopback_is_listened_on_unless_a_proxy_is_named() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let address: SocketAddr = address.parse().unwrap();
        let refused = HttpSettings::default().listen(address).await;
        assert!(matches!(refused, Err(ListenError::NotLoopback(found)) if found == address));
    }
    HttpSettings::default().listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let public = HttpSettings::default().with_public_url("https://tools.example.com").unwrap();
    public.listen("0.0.0.0:0".parse().unwrap()).await.unwrap();
}

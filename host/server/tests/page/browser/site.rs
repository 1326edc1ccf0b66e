//! A site of somebody else's, at another port of this machine and under any name: what it serves tries to reach the page.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A site whose every path is one document.
pub(super) struct Site {
    port: u16,
    serving: JoinHandle<()>,
}

impl Site {
    /// Serves this document.
    pub(super) async fn serving(document: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let document = document.clone();
                tokio::spawn(async move {
                    let mut request = Vec::new();
                    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
                        match stream.read_buf(&mut request).await {
                            Ok(0) | Err(_) => return,
                            Ok(_) => {}
                        }
                    }
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{document}",
                        document.len()
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap_or_default();
                });
            }
        });
        Self { port, serving }
    }

    /// Its address at a site of its own, and at the page's own site, where another port is.
    pub(super) fn addresses(&self) -> [String; 2] {
        ["evil.example", "127.0.0.1"].map(|host| format!("http://{host}:{}/", self.port))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

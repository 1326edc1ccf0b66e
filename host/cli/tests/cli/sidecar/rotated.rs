//! A sidecar whose bot gets another key while it runs: it serves on what it knows, and knows the new key when it is started anew.

use super::served::{Served, call, own_socket, read, text};
use crate::home::Home;
use crate::stage::Stage;

#[test]
fn a_sidecar_serves_on_and_knows_the_new_key_once_it_is_started_anew() {
    let (home, stage) = (Home::new(), Stage::new());
    let socket = own_socket(&home);
    let to_the_first = call("github.get_repo", &read(), &text(&home.mint(&[])));
    let first = home.bot();
    let served = Served::at(&home, &stage, &socket);
    served.post("/v1/run", &to_the_first).is(200);
    home.run(&["keys", "rotate", "--grace", "1d"]).expect(0);
    let to_the_second = call("github.get_repo", &read(), &text(&home.mint(&[])));
    served.post("/v1/run", &to_the_first).is(200);
    served.post("/v1/run", &to_the_second).refused(422, "wrong_bot");
    assert_eq!(served.get("/v1/services").is(200)["bot"], first);
    drop(served);
    let served = Served::at(&home, &stage, &socket);
    for body in [&to_the_first, &to_the_second] {
        served.post("/v1/run", body).is(200);
    }
    assert_eq!(served.get("/v1/services").is(200)["bot"], home.bot());
    drop(served);
    home.run(&["keys", "retire", &first]).expect(0);
    let served = Served::at(&home, &stage, &socket);
    served.post("/v1/run", &to_the_first).refused(422, "wrong_bot");
    served.post("/v1/run", &to_the_second).is(200);
    assert_eq!(stage.requests(), 5);
}

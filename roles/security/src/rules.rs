//! The names of the role's own rules. Those of secrets are the `secret-scan` crate's.

/// Every rule for calls and settings, by name.
pub const RULES: &[&str] = &[
    "danger/c-gets", "danger/c-sprintf", "danger/c-strcat", "danger/c-strcpy", "danger/c-system",
    "danger/go-shell", "danger/go-sql", "danger/go-tls-verify", "danger/go-weak-random",
    "danger/java-deserialize", "danger/java-exec", "danger/java-sql", "danger/java-weak-hash", "danger/java-xxe",
    "danger/js-child-process", "danger/js-dangerous-html", "danger/js-document-write", "danger/js-eval", "danger/js-inner-html",
    "danger/js-new-function", "danger/js-sql", "danger/js-tls-verify", "danger/js-weak-random",
    "danger/php-command", "danger/php-eval", "danger/php-include", "danger/php-sql", "danger/php-unserialize",
    "danger/python-debug", "danger/python-eval", "danger/python-exec", "danger/python-jwt-verify", "danger/python-mktemp", "danger/python-os-system",
    "danger/python-pickle", "danger/python-shell-true", "danger/python-sql", "danger/python-tls-verify", "danger/python-weak-hash",
    "danger/python-weak-random", "danger/python-yaml-load",
    "danger/ruby-command", "danger/ruby-eval", "danger/ruby-marshal", "danger/ruby-send", "danger/ruby-sql",
    "danger/rust-shell", "danger/rust-sql", "danger/rust-tls-verify", "danger/rust-transmute", "danger/rust-unsafe",
    "danger/shell-chmod-777", "danger/shell-curl-pipe", "danger/shell-eval",
    "ci/chmod-777", "ci/compose-docker-socket", "ci/compose-host-namespace", "ci/compose-privileged", "ci/curl-pipe",
    "ci/docker-add-url", "ci/docker-curl-pipe", "ci/docker-latest", "ci/docker-root", "ci/docker-secret-arg", "ci/docker-secret-env",
    "ci/gitlab-debug-trace", "ci/gitlab-dind", "ci/k8s-host-namespace", "ci/k8s-host-path", "ci/k8s-privilege-escalation",
    "ci/k8s-privileged", "ci/k8s-root", "ci/pull-request-target", "ci/script-injection", "ci/secret-echoed", "ci/unpinned-action",
    "ci/unsecure-commands", "ci/write-all",
];

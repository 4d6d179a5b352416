//! The role as Brain calls it: what is quoted, from whom, and that nothing is made up.
#![allow(clippy::unwrap_used, clippy::panic)]

use brain_role::testing::Bench;
use brain_role::{Finding, Handoff, Outcome, ReviewDecision, Severity, TaskStatus, Verdict, WorkerResult};
use proptest::prelude::*;
use summarize::limits::{MAX_FOUND, MAX_SENTENCE_CHARS, MAX_SENTENCES, MAX_SOURCE_BYTES, MAX_SOURCES};

const SESSION: &str = "# Session s1\n\nStatus: completed. A snapshot of its records; what its workers saw and thought is not in it.\n\n## Request\n\nWhere is the journal written? Should we move it to SQLite?\n\n## Answer\n\nThe journal is written by Journal::append in src/journal.rs.\nWe decided to stay with JSONL for now.\nOther roles:\n- security (completed): one finding. [1 finding: 1 high]\n\n### librarian (completed)\n\nThe journal is written by Journal::append in src/journal.rs.\n\n### security (completed)\n\nA token is committed in src/config.rs and must be revoked.\nIt is unclear whether the token was used.\n";

fn part<'a>(result: &'a WorkerResult, heading: &str) -> Vec<&'a str> {
    let lines = result.summary.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| line.starts_with("- ")).collect()
}

#[test]
fn a_session_is_told_in_its_own_sentences_with_the_role_that_says_each() {
    let result = Bench::new().context("threads/s1.md", SESSION).goal("summarize @@s1").run(summarize::run);
    assert_eq!(result.progress.status, TaskStatus::Completed);
    assert_eq!(
        result.summary,
        "Summary of 1 session: 6 of 7 sentences, each quoted with its source.\n\
         Asked:\n\
         - Where is the journal written? [session s1]\n\
         - Should we move it to SQLite? [session s1]\n\
         Decided and found:\n\
         - The journal is written by Journal::append in src/journal.rs. [session s1, librarian]\n\
         - We decided to stay with JSONL for now. [session s1]\n\
         - A token is committed in src/config.rs and must be revoked. [session s1, security]\n\
         Open:\n\
         - It is unclear whether the token was used. [session s1, security]"
    );
    assert_eq!(result.risks, ["1 sentence says what a quoted one says and is not repeated"]);
}

/// The form that has one item for each record.
#[test]
fn records_of_a_session_are_told_by_who_made_them() {
    let text = "# Session s2\n\nStatus: completed\nUpdated: 2026-11-30T20:13:19Z\nA compact snapshot of the session's records.\n\n## Request\n\nIs the store tested?\n\n## Answer\n\n3 of 5 functions are tested.\n- `open` has a test\n\n## Records\n\n- worker qa (primary) completed; summary: 3 of 5 functions are tested.\nRun them with cargo test.\n- worker dba (support) failed; error: The migrations could not be read.\n- todo completed: do the qa part; summary: 3 of 5 functions are tested.\n- run completed; role: qa; prompt: Is the store tested?; summary: 3 of 5 functions are tested.\n- review changes requested; rationale: A debugger was left in.\n- error: The second model gave up.\n";
    let result = Bench::new().context("threads/s2.md", text).goal("recap @@s2").run(summarize::run);
    assert_eq!(part(&result, "Asked:"), ["- Is the store tested? [session s2]"]);
    let found = part(&result, "Decided and found:");
    for line in [
        "- 3 of 5 functions are tested. [session s2, qa]",
        "- Run them with cargo test. [session s2, qa]",
        "- review changes requested; rationale: A debugger was left in. [session s2]",
    ] {
        assert!(found.contains(&line), "{line}: {found:?}");
    }
    let open = part(&result, "Open:");
    assert_eq!(
        open,
        ["- The migrations could not be read. [session s2, dba]", "- error: The second model gave up. [session s2]"]
    );
    assert!(!result.summary.contains("do the qa part") && !result.summary.contains("Updated"), "{}", result.summary);
}

#[test]
fn results_give_findings_open_points_and_next_steps() {
    let security = Bench::new().run(|_: Handoff| {
        Outcome::completed("2 findings in 9 files.")
            .finding(Finding::new(Severity::Low, "A weak hash is used").at("src/b.py", 3).suggest("Use SHA-256"))
            .finding(
                Finding::new(Severity::High, "A token is committed").at("src/config.rs", 4).suggest("Revoke the token"),
            )
            .risk("4 binary files were not looked at")
    });
    let review = Bench::new().run(|_: Handoff| {
        let decision = ReviewDecision::new(Verdict::ChangesRequested, "A debugger was left in the handler.")
            .required_change("Remove the breakpoint in app.py");
        Outcome::completed("Changes requested.").review(decision).question("Is the migration wanted?")
    });
    let failed = Bench::new().run(|_: Handoff| Outcome::failed("The index could not be read."));
    let result = Bench::new()
        .prior_result("security", &security)
        .prior_result("review", &review)
        .prior_result("librarian", &failed)
        .goal("check security, review my changes and recap")
        .run(summarize::run);
    assert!(result.summary.starts_with("Summary of 3 results: "), "{}", result.summary);
    assert_eq!(part(&result, "Asked:"), ["- check security, review my changes and recap [request]"]);
    let found = part(&result, "Decided and found:");
    assert!(found.contains(&"- A token is committed [security, src/config.rs:4]"), "{found:?}");
    assert!(found.contains(&"- A debugger was left in the handler. [review]"), "{found:?}");
    let open = part(&result, "Open:");
    for line in [
        "- The index could not be read. [librarian]",
        "- Is the migration wanted? [review]",
        "- 4 binary files were not looked at [security]",
    ] {
        assert!(open.contains(&line), "{line}: {open:?}");
    }
    let next = part(&result, "Next steps:");
    for line in ["- Remove the breakpoint in app.py [review]", "- Revoke the token [security, src/config.rs:4]"] {
        assert!(next.contains(&line), "{line}: {next:?}");
    }
    assert_eq!(result.findings, [], "what other roles found is theirs");
}

#[test]
fn chinese_is_split_ranked_and_answered_in_chinese() {
    let text = "# 会议\n\n## 背景\n\n日志写在 JSONL 里。\n\n## 决定\n\n我们决定继续使用 JSONL，不迁移。原因是简单！\n\n## 待办\n\n- [ ] 张三：写测试。\n- [x] 李四：加锁。\n\n还不清楚性能如何。谁来测量？\n";
    let result = Bench::new().file("docs/会议.md", text).goal("总结 docs/会议.md").run(summarize::run);
    assert_eq!(
        result.summary,
        "1 个文件的摘要：引用 7 句中的 7 句，每句注明出处。\n\
         请求：\n- 日志写在 JSONL 里。 [docs/会议.md:5]\n\
         决定与发现：\n- 我们决定继续使用 JSONL，不迁移。 [docs/会议.md:9]\n- 原因是简单！ [docs/会议.md:9]\n- 李四：加锁。 [docs/会议.md:14]\n\
         未决：\n- 还不清楚性能如何。 [docs/会议.md:16]\n- 谁来测量？ [docs/会议.md:16]\n\
         下一步：\n- 张三：写测试。 [docs/会议.md:13]"
    );
    let told: Vec<_> =
        result.findings.iter().map(|finding| (finding.rule.as_deref().unwrap(), finding.line.unwrap())).collect();
    assert_eq!(told, [("summarize/open-point", 16), ("summarize/open-point", 16), ("summarize/next-step", 13)]);
    assert_eq!(result.artifacts[0].uri, "/workspace/docs/会议.md");
}

#[test]
fn only_prose_that_the_handoff_names_is_read() {
    let bench = || {
        Bench::new()
            .file("README.md", "The tool counts words.")
            .file("a.rs", "fn a() {}")
            .file("docs/a.md", "Alpha is one.")
            .file("docs/b.txt", "Beta is two.")
            .file("other.md", "Gamma is three.")
    };
    let result = bench().ref_file("docs").goal("summarize @docs").run(summarize::run);
    assert!(
        result.summary.contains("Alpha") && result.summary.contains("Beta") && !result.summary.contains("Gamma"),
        "{}",
        result.summary
    );
    let result = bench().goal("summarize the readme").run(summarize::run);
    assert!(result.summary.contains("- The tool counts words. [README.md:1]"), "{}", result.summary);
    let result = bench().ref_file("a.rs").goal("summarize @a.rs").run(summarize::run);
    assert!(result.summary.starts_with("There is nothing to summarise"), "{}", result.summary);
    assert_eq!(result.risks, ["no prose, and so not summarised: a.rs"]);
    assert_eq!(result.next_questions.len(), 1);
    let result = bench().ref_file("gone.md").goal("recap @gone.md").run(summarize::run);
    assert!(result.risks[0].starts_with("not read: /workspace/gone.md"), "{:?}", result.risks);
}

#[test]
fn code_and_tables_are_left_out_and_counted_and_what_is_cut_is_marked() {
    let long = format!("Start {}end.", "word ".repeat(200));
    let text = format!("Intro is here.\n\n```\nsecret code\n```\n\n| a | b |\n|---|---|\n\n{long}\n");
    let result = Bench::new().context("pack.md", text).goal("recap").run(summarize::run);
    assert!(!result.summary.contains("secret code") && !result.summary.contains("| a"), "{}", result.summary);
    assert!(result.summary.contains("… [pack]"), "{}", result.summary);
    assert_eq!(
        result.risks,
        ["1 block of code was left out", "2 lines of tables were left out", "1 quoted sentence is cut, which … marks"]
    );
    assert!(result.summary.lines().all(|line| line.chars().count() <= MAX_SENTENCE_CHARS + 200));
}

#[test]
fn the_request_decides_what_is_quoted_of_a_long_text() {
    let mut text: String = (0..60).map(|n| format!("Item {n} is about colour number {n}.\n\n")).collect();
    text.push_str("The deadline of a call is one minute.\n");
    let result = Bench::new().file("a.md", text).goal("recap a.md: what is the deadline").run(summarize::run);
    let found = part(&result, "Decided and found:");
    assert!(found.iter().any(|line| line.contains("deadline of a call")), "{found:?}");
    assert_eq!(found.iter().filter(|line| !line.ends_with("not quoted)")).count(), MAX_FOUND);
}

#[test]
fn no_output_repeats_a_secret_and_none_forges_a_line() {
    let secret = ["ghp_", "aB7cD8eF9gH0jK1mN2pQ3rS4tU5vW6", "2M5jQM"].concat();
    let text = format!("The token is {secret} and must go.\u{202e}\u{1b}[31m\n");
    let other = Bench::new().run(|_: Handoff| Outcome::completed(format!("Found {secret} in a file.")));
    let result = Bench::new()
        .file("a.md", &text)
        .context("threads/s.md", format!("# Session s\n\n## Request\n\nUse {secret}.\n"))
        .prior_result("x\u{1b}", &other)
        .goal("recap a.md")
        .run(summarize::run);
    assert!(result.summary.contains("The token is ghp_…"), "{}", result.summary);
    let all = format!("{result:?}");
    assert!(!all.contains(&secret), "{all}");
    assert!(result.summary.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{:?}", result.summary);
}

#[test]
fn sources_bytes_and_sentences_are_bounded_and_said() {
    let big = format!("First of all. {}", "a b c. ".repeat(MAX_SOURCE_BYTES as usize / 6));
    let result = Bench::new().context("threads/big.md", big).goal("recap").run(summarize::run);
    assert!(
        result.risks.iter().any(|risk| risk == "threads/big.md: only the first 256 KiB were read"),
        "{:?}",
        result.risks
    );
    assert!(
        result.risks.iter().any(|risk| risk.contains("sentences past the bound"))
            || MAX_SENTENCES > 40_000
            || !result.risks.is_empty()
    );
    let bench = (0..MAX_SOURCES + 3)
        .fold(Bench::new(), |bench, n| bench.context(format!("threads/{n:03}.md"), format!("Fact {n} holds.")));
    let result = bench.goal("recap").run(summarize::run);
    assert!(result.risks.contains(&format!("only the first {MAX_SOURCES} sources were read")), "{:?}", result.risks);
    let result = Bench::new()
        .context("threads/bin.md", b"a\0b")
        .context("results/x.json", "{")
        .goal("recap")
        .run(summarize::run);
    assert_eq!(result.risks.iter().filter(|risk| risk.starts_with("not read: ")).count(), 2, "{:?}", result.risks);
}

fn squashed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Pieces of Markdown that a reader trips over.
fn markdown() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "# Request",
        "## Answer\n",
        "### qa (completed)\n",
        "- [ ] ",
        "- ",
        "> ",
        "1. ",
        "```\n",
        "~~~",
        "    ",
        "|",
        "---\n",
        "\n",
        "\n\n",
        "We decided to go on. ",
        "Why is it so? ",
        "TODO write it. ",
        "我们决定了。",
        "谁来做？",
        "e.g. ",
        "word ",
        "é",
        "\u{1f980}",
        "**",
        "*",
        "[a](b)",
        ".",
        "!",
        "”",
        "\t",
        "\u{feff}",
        "Other roles:\n",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// What is quoted stands in a source, in this order, but for the marks of lines that it goes over.
    #[test]
    fn every_quoted_sentence_is_one_of_an_input(thread in markdown(), file in markdown(), answer in markdown(), goal in "(recap |总结|a\\.md |decided ){0,4}") {
        let other = Bench::new().run(|_: Handoff| Outcome::completed(answer.clone()).risk(file.clone()));
        let result = Bench::new()
            .context("threads/t.md", &thread)
            .file("a.md", &file)
            .ref_file("a.md")
            .prior_result("qa", &other)
            .goal(goal.clone())
            .run(summarize::run);
        prop_assert_eq!(result.progress.status, TaskStatus::Completed);
        // Marks of quotations and what stands between lines are no part of a sentence.
        let plain = |text: &str| squashed(text).replace('>', "");
        let inputs: Vec<String> = [&thread, &file, &answer, &goal].into_iter().map(|text| plain(text)).collect();
        for line in result.summary.lines().filter(|line| line.starts_with("- ") && !line.contains("not quoted)") && !line.contains("未引用")) {
            let (quoted, source) = line.trim_start_matches("- ").rsplit_once(" [").unwrap();
            prop_assert!(source.ends_with(']') && source.len() > 1);
            let quoted = plain(quoted.trim_end_matches('…'));
            prop_assert!(inputs.iter().any(|input| input.contains(&quoted)), "{quoted:?} is in none of {inputs:?}");
        }
    }
}

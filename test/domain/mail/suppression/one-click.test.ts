import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

import { makeMessage, type Message, type SendRequest } from "../../../../src/domain/mail/message.ts"
import { isBulk, linkingOf, linkIssues, withLink } from "../../../../src/domain/mail/suppression/one-click.ts"

const URL = "https://mail.x.test/u/token"
const message = (change: Partial<SendRequest> = {}): Message =>
  Result.getOrThrow(
    makeMessage(
      {
        to: ["ann@x.test"],
        subject: "News",
        text: "Hello.",
        category: "marketing",
        source: "api:test",
        ...change
      },
      {
        from: { local: "news", domain: "x.test", name: undefined },
        domains: { sender: "x.test", legacy: "old.test" }
      }
    )
  )
const PAIR = { "List-Unsubscribe": `<${URL}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }
const tag = (change: Partial<SendRequest>, makes = true) => linkingOf(message(change), makes)._tag
const refused = (change: Partial<SendRequest>, makes = true) => {
  const made = message(change)
  return linkIssues(made, linkingOf(made, makes)).map(({ path }) => path)
}

describe("the link by which a reader leaves (MAIL-67)", () => {
  it("is for marketing and for mail of a list", () => {
    assert.isTrue(isBulk(message()))
    assert.isTrue(isBulk(message({ category: "notification", list: "weekly" })))
    assert.isFalse(isBulk(message({ category: "notification" })))
  })

  it("is made for the one recipient of a mail, where this process can make one", () => {
    assert.strictEqual(tag({}), "Made")
    assert.strictEqual(tag({}, false), "None")
    for (const more of [
      { to: ["ann@x.test", "bob@x.test"] },
      { cc: ["bob@x.test"] },
      { bcc: ["bob@x.test"] }
    ])
      assert.strictEqual(tag(more), "None")
  })

  it("is the caller's where the headers have it, of use to a mail service as the pair of RFC 8058 alone", () => {
    const own = (headers: Readonly<Record<string, string>>) => linkingOf(message({ headers }), true)
    const post = { "list-unsubscribe-post": " list-unsubscribe=one-click " }
    assert.deepStrictEqual(own(PAIR), { _tag: "Own", url: URL })
    assert.deepStrictEqual(own({ ...post, "LIST-UNSUBSCRIBE": `<mailto:x@x.test>, < ${URL} >` }), {
      _tag: "Own",
      url: URL
    })
    for (const headers of [
      { "List-Unsubscribe": `<${URL}>` },
      post,
      { ...PAIR, "List-Unsubscribe": "<mailto:x@x.test>" },
      { ...PAIR, "List-Unsubscribe": "<http://x.test/u>" },
      { ...PAIR, "List-Unsubscribe": URL },
      { ...PAIR, "List-Unsubscribe-Post": "yes" }
    ])
      assert.deepStrictEqual(own(headers as never), { _tag: "Own", url: undefined }, JSON.stringify(headers))
  })

  it("says why there is none: what the headers lack, or what this process does", () => {
    const why = (change: Partial<SendRequest>, makes: boolean) => {
      const made = message({ list: "weekly", ...change })
      return linkIssues(made, linkingOf(made, makes)).map((issue) => issue.message)[0] ?? ""
    }
    assert.match(why({ headers: { "List-Unsubscribe": `<${URL}>` } }, true), /RFC 8058/)
    assert.match(why({}, false), /BASE_URL/)
    assert.match(why({ to: ["ann@x.test", "bob@x.test"] }, true), /one address/)
  })

  it("is missed in mail of a list, and in a text that names it; other marketing goes out", () => {
    const half = { "List-Unsubscribe": `<${URL}>` }
    const names = "Leave: {{ unsubscribe_url }}"
    for (const [change, makes, paths] of [
      [{}, true, []],
      [{ list: "weekly" }, true, []],
      [{ list: "weekly" }, false, ["list"]],
      [{ list: "weekly", headers: half }, true, ["headers"]],
      [{ list: "weekly", headers: PAIR }, false, []],
      [{}, false, []],
      [{ headers: half }, false, []],
      [{ text: names }, false, ["text"]],
      [{ text: names }, true, []],
      [{ text: "{{unsubscribe_url}} comes first" }, false, ["text"]],
      [{ text: names, headers: PAIR }, false, []],
      [{ text: names, headers: half }, false, ["text"]],
      [{ html: names }, false, ["html"]],
      [{ html: "{{unsubscribe_url}}" }, false, ["html"]],
      [{ html: "<a href='%7B%7Bunsubscribe_url%7D%7D'>" }, false, ["html"]]
    ] as const)
      assert.deepStrictEqual(refused(change as never, makes), [...paths], JSON.stringify(change))
  })

  it("stands in the headers and wherever a text names it, and its list has its name (RFC 2919)", () => {
    const listed = withLink(
      message({
        list: "weekly",
        html: "<a href='%7B%7B unsubscribe_url %7D%7D'>",
        text: "{{UNSUBSCRIBE_URL}} $&"
      }),
      URL,
      false
    )
    assert.deepInclude(listed, { html: `<a href='${URL}'>`, text: `${URL} $&` })
    assert.deepStrictEqual(listed.headers, { ...PAIR, "List-Id": "<weekly.x.test>" })
    assert.deepStrictEqual(withLink(message(), URL, false).headers, PAIR)
    assert.deepStrictEqual(withLink(message({ headers: { "X-A": "1", ...PAIR } }), URL, true).headers, {
      "X-A": "1",
      ...PAIR
    })
    const theirs = {
      "List-Unsubscribe": "<https://x.test/own>",
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
    }
    assert.deepStrictEqual(withLink(message({ headers: theirs }), URL, true).headers, theirs)
    const named = withLink(message({ list: "weekly", headers: { "list-id": "<own.x.test>" } }), URL, false)
    assert.deepStrictEqual(named.headers, { "list-id": "<own.x.test>", ...PAIR })
  })
})

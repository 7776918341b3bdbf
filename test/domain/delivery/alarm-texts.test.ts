import { describe, expect, it } from "vitest"

import { ALARMS, isOfSilence } from "../../../src/domain/delivery/alarm-rules.ts"
import { alarmMail, alarmMeaning } from "../../../src/domain/delivery/alarm-texts.ts"

describe("the notice of an alarm", () => {
  it("has a title of its own and says what to do, of each", () => {
    const meanings = ALARMS.map(alarmMeaning)
    expect(new Set(meanings.map(({ title }) => title)).size).toBe(ALARMS.length)
    for (const { remedy } of meanings) expect(remedy).toMatch(/^[A-Z].*\.$/)
    for (const name of ALARMS.filter(isOfSilence))
      expect(alarmMeaning(name).title).toMatch(/^No delivery events of /)
  })

  it("is a sentence, leads to the overview, and says what to do only while there is something to be done", () => {
    const begun = alarmMail("failovers", "begun", "three sends failed over", "https://postlane.test")
    expect(begun).toMatchObject({
      kind: "alarm",
      detail: "Three sends failed over.",
      remedy: alarmMeaning("failovers").remedy,
      url: "https://postlane.test/admin"
    })
    const ended = alarmMail("failovers", "ended", "", "https://postlane.test")
    expect(ended).toMatchObject({ title: alarmMeaning("failovers").title, detail: "." })
    expect("remedy" in ended && ended.remedy).toBe(undefined)
  })
})

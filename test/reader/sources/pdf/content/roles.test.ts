import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

import { extractBytes } from "../../../../support/files/pdf-files.ts"
import { line, pdfOf, ref } from "../../../../support/files/pdf-writer.ts"

/** A page with one tagged line of each type, and this map of roles. */
const taggedOf = (types: ReadonlyArray<string>, roles: string) =>
  pdfOf({
    pages: [
      {
        content: types
          .map((type, at) => `/${type} <</MCID ${at}>> BDC ${line(`Line ${at}`, 72, 720 - 20 * at)}EMC`)
          .join(" "),
        entries: "/StructParents 0"
      }
    ],
    catalog: "/MarkInfo << /Marked true >>",
    more: (writer, [page = 0]) => {
      const root = writer.reserve()
      const elements = types.map((type, at) =>
        ref(writer.object(`<< /Type /StructElem /S /${type} /P ${ref(root)} /Pg ${ref(page)} /K ${at} >>`))
      )
      writer.object(
        `<< /Type /StructTreeRoot /K [${elements.join(" ")}] /RoleMap << ${roles} >> /ParentTree << /Nums [0 [${elements.join(" ")}]] >> >>`,
        root
      )
      return { catalog: `/StructTreeRoot ${ref(root)}` }
    }
  })

const typesOf = (types: ReadonlyArray<string>, roles: string) =>
  Effect.map(extractBytes(taggedOf(types, roles)), ({ pages }) => pages[0]?.structure.map(({ type }) => type))

describe("cells without content", () => {
  it.effect("keep their place in a row; other elements without content are none", () =>
    Effect.gen(function* () {
      const pdf = pdfOf({
        pages: [
          {
            content: `/TD <</MCID 0>> BDC ${line("Monday", 172, 720)}EMC /P <</MCID 1>> BDC ${line("Words", 72, 600)}EMC`,
            entries: "/StructParents 0"
          }
        ],
        catalog: "/MarkInfo << /Marked true >>",
        more: (writer, [page = 0]) => {
          const root = writer.reserve()
          const element = (type: string, kids: string, parent = root) =>
            ref(
              writer.object(`<< /Type /StructElem /S /${type} /P ${ref(parent)} /Pg ${ref(page)} ${kids} >>`)
            )
          const row = writer.reserve()
          const filled = element("TD", "/K 0", row)
          writer.object(
            `<< /Type /StructElem /S /TR /P ${ref(root)} /Pg ${ref(page)} /K [${element("TD", "", row)} ${filled}] >>`,
            row
          )
          const words = element("P", "/K 1")
          writer.object(
            `<< /Type /StructTreeRoot /K [${ref(row)} ${element("P", "")} ${words}] /ParentTree << /Nums [0 [${filled} ${words}]] >> >>`,
            root
          )
          return { catalog: `/StructTreeRoot ${ref(root)}` }
        }
      })
      const { pages } = yield* extractBytes(pdf)
      const [tr, ...others] = pages[0]?.structure ?? []
      assert.deepStrictEqual(
        tr?.children.map((child) => ("type" in child ? [child.type, child.children.length] : [])),
        [
          ["TD", 0],
          ["TD", 1]
        ]
      )
      assert.deepStrictEqual(
        others.map(({ type }) => type),
        ["P"]
      )
    })
  )
})

describe("roles of a document's own types", () => {
  it.effect("are followed to the standard type at their end", () =>
    Effect.gen(function* () {
      const roles = "/Kop1 /H1 /Kop2 /Kop2b /Kop2b /Kop2c /Kop2c /H2"
      assert.deepStrictEqual(yield* typesOf(["Kop1", "Kop2", "Kop2b", "P"], roles), ["H1", "H2", "H2", "P"])
    })
  )

  it.effect("end at what the map does not know, and where they run in a circle", () =>
    Effect.gen(function* () {
      const found = yield* typesOf(["Own", "A", "Self", "Far"], "/A /B /B /C /C /A /Self /Self /Far /Nowhere")
      assert.strictEqual(found?.length, 4)
      assert.deepStrictEqual([found?.[0], found?.[2], found?.[3]], ["Own", "Self", "Nowhere"])
      assert.include(["A", "B", "C"], found?.[1])
    })
  )
})

import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

import { defaultOf, type Setting } from "../src/runtime/settings/setting.ts"
import { AREAS } from "../src/runtime/settings/table.ts"

/** Where the page is kept. */
const PAGE = fileURLToPath(new URL("../docs/reference/configuration.md", import.meta.url))

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")
const code = (text: string): string => `\`${text}\``

const row = (setting: Setting): string => {
  const { alias, name } = setting
  const names = alias === undefined ? code(name) : `${code(name)}, or ${code(alias)}`
  const marked = setting.secret ? `${names} (secret)` : names
  return `| ${marked} | ${cell(defaultOf(setting, code))} | ${cell(setting.about)} |`
}

const section = ({ settings, title }: (typeof AREAS)[keyof typeof AREAS]): string =>
  [
    `## ${title}`,
    "",
    "| name | default | meaning |",
    "|---|---|---|",
    ...Object.values(settings).map(row)
  ].join("\n")

/** The whole page, from the table of settings. */
export const configurationPage = (): string =>
  [
    "# Configuration",
    "",
    "Generated from `src/runtime/settings/table.ts` by `scripts/generate-config-docs.ts`; edit the table, not this page.",
    "",
    "Settings are environment variables (on the edge: bindings). An empty one counts as unset, except `EMAIL_DEFER_QUEUE_URL`.",
    "All are checked at the start and every problem is reported by name, also an unknown name that looks like a setting. Secrets",
    "are never logged. `{NAME}` in a default is the value of that setting.",
    "",
    Object.values(AREAS).map(section).join("\n\n"),
    ""
  ].join("\n")

/** Writes the page, or with `--check` compares it; true where it is as it should be. */
export const generate = async (file: string, check: boolean): Promise<boolean> => {
  const page = configurationPage()
  if (!check) {
    await writeFile(file, page)
    return true
  }
  const current = await readFile(file, "utf8").catch(() => "")
  return current === page
}

if (import.meta.main) {
  const current = await generate(PAGE, process.argv.includes("--check"))
  if (!current) {
    console.error("docs/reference/configuration.md is stale: run node scripts/generate-config-docs.ts")
    process.exitCode = 1
  }
}

import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright } from "playwright-core"

/** The package is made for a machine with one process; here a page that ends would take the browser along. */
const ARGS = chromium.args.filter((arg) => arg !== "--single-process" && arg !== "--no-zygote")

/** A headless Chromium from npm: nothing else has to be installed. Close it. */
export const openBrowser = async (): Promise<Browser> =>
  playwright.launch({ executablePath: await chromium.executablePath(), args: ARGS, headless: true })

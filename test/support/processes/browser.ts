import chromium from "@sparticuz/chromium"
import { type Browser, chromium as playwright } from "playwright-core"

/**
 * What is left out of the package's flags: it is made for a machine with one process, where here a page that ends would take the
 * browser along, and it lets every page read every other, which no browser of a person does.
 */
const LEFT_OUT = new Set([
  "--single-process",
  "--no-zygote",
  "--disable-web-security",
  "--allow-running-insecure-content"
])
/** Nothing here is drawn by a graphics card's language: to emulate one takes half of a page's processor time. */
const GRAPHICS = /swiftshader|angle|gpu/
const ARGS = [...chromium.args.filter((arg) => !LEFT_OUT.has(arg) && !GRAPHICS.test(arg)), "--disable-gpu"]

/** A headless Chromium from npm: nothing else has to be installed. Close it. */
export const openBrowser = async (): Promise<Browser> =>
  playwright.launch({ executablePath: await chromium.executablePath(), args: ARGS, headless: true })

let shared: Promise<Browser> | undefined

/** The worker's own Chromium, which its test files use one after the other; it ends with the worker. Close its pages only. */
export const workersBrowser = (): Promise<Browser> => (shared ??= openBrowser())

/** Ends the pages of a test: one that is left open goes on asking its server. */
export const closePages = (browser: Browser) =>
  Promise.all(browser.contexts().map((context) => context.close()))

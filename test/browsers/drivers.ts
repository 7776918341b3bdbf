/** Firefox and WebKit as they are installed on a machine, driven by what they speak themselves: no package brings either. */
import { spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

/** One page of a browser. */
export interface Tab {
  readonly open: (url: string) => Promise<void>
  /** The value of an expression, as JSON. */
  readonly run: <A>(expression: string) => Promise<A>
  /** Presses keys, one after another: characters, or `Tab`, `Enter`, `Space`. */
  readonly press: (...keys: ReadonlyArray<string>) => Promise<void>
  readonly width: (pixels: number) => Promise<void>
  /** What the browser logged as errors; WebKit tells nothing of it. */
  readonly errors: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

const HEIGHT = 900
const KEYS: Readonly<Record<string, string>> = { Tab: "\uE004", Enter: "\uE006", Space: " " }
const actions = (keys: ReadonlyArray<string>) => [
  {
    type: "key",
    id: "keyboard",
    actions: keys.flatMap((key) => [
      { type: "keyDown", value: KEYS[key] ?? key },
      { type: "keyUp", value: KEYS[key] ?? key }
    ])
  }
]

/** A program that is ended, with its folder, when its tab is closed; resolves with the first match in what it prints. */
const started = async (command: string, args: ReadonlyArray<string>, ready: RegExp) => {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}`)))
  })
  ended.catch(() => undefined)
  const said = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        const found = ready.exec(line)
        if (found !== null) resolve(found[1] ?? "")
      })
  })
  const stop = () => child.kill("SIGKILL")
  process.once("exit", stop)
  return { said: await Promise.race([said, ended]), stop }
}

/** What Firefox answers a command, and an expression. */
interface Answer {
  readonly result?: unknown
  readonly message?: string
}
type Evaluated =
  | { readonly exceptionDetails: { readonly text: string } }
  | { readonly result: { readonly value: string } }

/** Firefox, by WebDriver BiDi. */
export const openFirefox = async (): Promise<Tab> => {
  const profile = await mkdtemp(join(tmpdir(), "postlane-firefox-"))
  const program = process.env["FIREFOX"] ?? "firefox"
  const { said, stop } = await started(
    program,
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
    /WebDriver BiDi listening on (ws:\S+)/
  )
  const socket = new WebSocket(`${said}/session`)
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }))
  const waiting = new Map<number, (answer: Answer) => void>()
  const errors: Array<string> = []
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data))
    if (message.method === "log.entryAdded" && message.params.level === "error")
      errors.push(String(message.params.text))
    else waiting.get(message.id)?.(message)
  })
  let id = 0
  const ask = async <A = void>(method: string, params: object): Promise<A> => {
    const mine = (id += 1)
    const answer = new Promise<Answer>((resolve) => waiting.set(mine, resolve))
    socket.send(JSON.stringify({ id: mine, method, params }))
    const { message, result } = await answer
    if (result === undefined) throw new Error(`${method}: ${message}`)
    return result as A
  }
  await ask("session.new", { capabilities: {} })
  await ask("session.subscribe", { events: ["log.entryAdded"] })
  // In a new window, whose page has the focus: in the first one the address bar has, and buttons take no keys.
  const { context } = await ask<{ readonly context: string }>("browsingContext.create", { type: "window" })
  await ask("browsingContext.activate", { context })
  const tab: Tab = {
    open: (url) => ask("browsingContext.navigate", { context, url, wait: "complete" }),
    run: async (expression) => {
      const answer = await ask<Evaluated>("script.evaluate", {
        expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
        target: { context },
        awaitPromise: true
      })
      if ("exceptionDetails" in answer) throw new Error(answer.exceptionDetails.text)
      return JSON.parse(answer.result.value)
    },
    press: (...keys) => ask("input.performActions", { context, actions: actions(keys) }),
    width: (pixels) =>
      ask("browsingContext.setViewport", { context, viewport: { width: pixels, height: HEIGHT } }),
    errors,
    close: async () => {
      socket.close()
      stop()
      await sleep(500)
      await rm(profile, { recursive: true, force: true })
    }
  }
  return tab
}

/** Its window is as wide as its toolbar at least: with this theme less than 320 pixels. */
const NARROW_TOOLBAR =
  "* { min-width: 0; min-height: 0; padding: 0; margin: 0; font-size: 1px; border-width: 0; }"

/** WebKitGTK, by its WebDriver; where there is no display it gets one of its own. */
export const openWebKit = async (): Promise<Tab> => {
  const binary = process.env["WEBKIT_MINIBROWSER"] ?? "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser"
  const folder = await mkdtemp(join(tmpdir(), "postlane-webkit-"))
  await mkdir(join(folder, "gtk-3.0"))
  await writeFile(join(folder, "gtk-3.0", "gtk.css"), NARROW_TOOLBAR)
  const screen =
    process.env["DISPLAY"] === undefined
      ? await started("Xvfb", ["-displayfd", "1", "-screen", "0", "1600x1200x24"], /^(\d+)$/)
      : undefined
  const port = 20_000 + (process.pid % 20_000)
  const driver = spawn("WebKitWebDriver", [`--port=${port}`], {
    stdio: "ignore",
    env: {
      ...process.env,
      ...(screen && { DISPLAY: `:${screen.said}` }),
      XDG_CONFIG_HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CACHE_HOME: folder
    }
  })
  const driverEnded = new Promise<never>((_, reject) => driver.once("error", reject))
  driverEnded.catch(() => undefined)
  process.once("exit", () => driver.kill("SIGKILL"))
  const call = async <A = void>(method: string, to: string, body?: object): Promise<A> => {
    const asked = fetch(`http://127.0.0.1:${port}${to}`, {
      method,
      ...(body && { body: JSON.stringify(body) })
    })
    const response = await Promise.race([asked, driverEnded])
    const { value } = (await response.json()) as { readonly value: A & { readonly message?: string } }
    if (!response.ok) throw new Error(`${to}: ${value.message}`)
    return value
  }
  for (let tries = 0; ; tries += 1) {
    try {
      await call("GET", "/status")
      break
    } catch (failure) {
      if (tries === 50) throw failure
      await sleep(100)
    }
  }
  const options = { binary, args: ["--automation"] }
  const { sessionId } = await call<{ readonly sessionId: string }>("POST", "/session", {
    capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } }
  })
  const at = (to: string) => `/session/${sessionId}${to}`
  return {
    open: (url) => call("POST", at("/url"), { url }),
    run: async (expression) => {
      const answer = await call<readonly [boolean, string]>("POST", at("/execute/async"), {
        script: `const done = arguments[arguments.length - 1]; Promise.resolve().then(() => ${expression}).then((value) => done([true, JSON.stringify(value ?? null)]), (failure) => done([false, String(failure)]))`,
        args: []
      })
      if (!answer[0]) throw new Error(answer[1])
      return JSON.parse(answer[1])
    },
    press: (...keys) => call("POST", at("/actions"), { actions: actions(keys) }),
    width: (pixels) => call("POST", at("/window/rect"), { width: pixels, height: HEIGHT }),
    errors: [],
    close: async () => {
      await call("DELETE", at(""))
      driver.kill("SIGKILL")
      screen?.stop()
      await sleep(500)
      await rm(folder, { recursive: true, force: true })
    }
  }
}

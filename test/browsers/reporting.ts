/**
 * A server in front of an installation whose pages ask the browser to report what their policy forbids: WebKit's driver tells nothing of
 * a page's console, and what happened while a page loaded is over before a script can listen.
 */
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"

const REPORTS = "/policy-reports"
const POLICY = "content-security-policy"

export const startReporting = async (api: string) => {
  const reports: Array<string> = []
  const server = createServer((asked, answer) => {
    if (asked.url === REPORTS) {
      let report = ""
      asked.on("data", (part) => (report += String(part)))
      asked.on("end", () => {
        reports.push(report)
        answer.writeHead(204).end()
      })
      return
    }
    const { headers, method, url } = asked
    const forwarded = request(`${api}${url}`, { method, headers }, (given) => {
      const policy = given.headers[POLICY]
      answer.writeHead(given.statusCode ?? 502, {
        ...given.headers,
        ...(policy !== undefined && { [POLICY]: `${String(policy)}; report-uri ${REPORTS}` })
      })
      given.pipe(answer)
    })
    forwarded.on("error", () => answer.destroy())
    answer.on("close", () => forwarded.destroy())
    asked.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reports,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

import type { Provider } from "../../domain/mail/provider.ts"
import type { SimulatedEventType } from "../../ports/simulated-mail.ts"

const VENDOR: Readonly<
  Record<Provider, { readonly domain: string; readonly types: ReadonlyMap<string, SimulatedEventType> }>
> = {
  provider_a: {
    domain: "resend.dev",
    types: new Map([
      ["delivered", "delivered"],
      ["bounced", "bounced"],
      ["complained", "complained"],
      ["suppressed", "suppressed"]
    ])
  },
  provider_b: {
    domain: "simulator.amazonses.com",
    types: new Map([
      ["success", "delivered"],
      ["bounce", "bounced"],
      ["complaint", "complained"],
      ["suppressionlist", "suppressed"]
    ])
  }
}

/** What the vendor's own test address stands for, a `+label` in it or not; `undefined` for every other address. */
export const testAddressType = (provider: Provider, address: string): SimulatedEventType | undefined => {
  const { domain, types } = VENDOR[provider]
  const at = address.lastIndexOf("@")
  if (address.slice(at + 1).toLowerCase() !== domain) return undefined
  return types.get(address.slice(0, at).toLowerCase().split("+", 1)[0]!)
}

import { Layer } from "effect"

import * as Accounts from "../../../../src/adapters/memory/accounts/accounts.ts"
import * as Customers from "../../../../src/adapters/memory/accounts/customers.ts"
import { suite } from "../../../contracts/accounts/customers.ts"
import { memory } from "../../../support/worlds/documents-memory.ts"

suite("memory", Layer.provideMerge(Layer.merge(Accounts.layer, Customers.layer), memory))

import { Layer } from "effect"

import { layer } from "../../../../src/adapters/memory/conversion/store-identities.ts"
import { storeIdentitiesContract } from "../../../contracts/conversion/store-identities.ts"

storeIdentitiesContract("memory", Layer.fresh(layer))

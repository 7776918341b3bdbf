import { type Cell, CELLS, isForPeers, type PeersCell } from "./cells.ts"
import { type PeerRun, runNotifme, runSesSdk, runUpyo } from "./peers.ts"
import { type PostlaneRun, runPostlane } from "./postlane.ts"

/** What the peers made of a cell. */
export interface PeerRuns {
  readonly upyo: PeerRun
  readonly notifme: PeerRun
  /** Where it is the primary. */
  readonly ses: PeerRun | undefined
  /** Its fault over after one request; a closed listener cannot count its requests. */
  readonly sesOnce: PeerRun | undefined
}

/** A row of the matrix. */
export interface Row {
  readonly cell: Cell
  readonly postlane: PostlaneRun
  /** The same with an event between call and retry; where nothing was accepted there is nothing that it could tell. */
  readonly withEvent: PostlaneRun | undefined
  /** Where they have an SDK for the primary. */
  readonly peers: PeerRuns | undefined
}

const runPeers = async (cell: PeersCell): Promise<PeerRuns> => {
  const isSes = cell.primary === "provider_b"
  const [upyo, notifme, ses, sesOnce] = await Promise.all([
    runUpyo(cell),
    runNotifme(cell),
    isSes ? runSesSdk(cell, "throughout") : undefined,
    isSes && cell.outcome.fault !== "refused" ? runSesSdk(cell, "once") : undefined
  ])
  return { upyo, notifme, ses, sesOnce }
}

/** Runs every cell, one after the other. */
export const runFaultMatrix = async (): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = []
  for (const cell of CELLS) {
    rows.push({
      cell,
      postlane: await runPostlane(cell, { event: false }),
      withEvent: cell.accepted ? await runPostlane(cell, { event: true }) : undefined,
      peers: isForPeers(cell) ? await runPeers(cell) : undefined
    })
  }
  return rows
}

/** A constraint refused a change, as PostgreSQL's constraints do; the transaction is undone. */
export class Refused extends Error {
  override readonly name = "Refused"
}

/** How to undo the changes of the running transaction, oldest first. */
export type Journal = Array<() => void>

/** Rows by key, in the order of their insertion. A row is replaced, never changed in place. */
export class Table<Row extends object> {
  readonly #rows = new Map<string, Row>()
  readonly #keyOf: (row: Row) => string
  readonly #journal: Journal
  readonly #check: (row: Row) => boolean

  constructor(journal: Journal, keyOf: (row: Row) => string, check: (row: Row) => boolean = () => true) {
    this.#journal = journal
    this.#keyOf = keyOf
    this.#check = check
  }

  get(key: string | null | undefined): Row | undefined {
    return key === null || key === undefined ? undefined : this.#rows.get(key)
  }

  where(holds: (row: Row) => boolean = () => true): Array<Row> {
    const found: Array<Row> = []
    for (const row of this.#rows.values()) if (holds(row)) found.push(row)
    return found
  }

  find(holds: (row: Row) => boolean): Row | undefined {
    for (const row of this.#rows.values()) if (holds(row)) return row
    return undefined
  }

  insert(row: Row): Row {
    const key = this.#keyOf(row)
    if (this.#rows.has(key)) throw new Refused(`there is a row ${key} already`)
    return this.#put(key, row, undefined)
  }

  /** The row with the changes. */
  update(key: string, changes: Partial<Row>): Row {
    const before = this.#rows.get(key)
    if (before === undefined) throw new Error(`there is no row ${key}`)
    return this.#put(key, { ...before, ...changes }, before)
  }

  /** The row that was there, if any. */
  remove(key: string): Row | undefined {
    const before = this.#rows.get(key)
    if (before === undefined) return undefined
    this.#journal.push(() => this.#rows.set(key, before))
    this.#rows.delete(key)
    return before
  }

  clear(): void {
    for (const key of this.#rows.keys()) this.remove(key)
  }

  #put(key: string, row: Row, before: Row | undefined): Row {
    if (!this.#check(row)) throw new Refused(`a check refused the row ${key}`)
    this.#journal.push(() => {
      if (before === undefined) this.#rows.delete(key)
      else this.#rows.set(key, before)
    })
    this.#rows.set(key, row)
    return row
  }
}

/** Compares by several numbers or texts, the first that differs decides. */
export const by =
  <Row>(...keys: ReadonlyArray<(row: Row) => number | string>) =>
  (a: Row, b: Row): number => {
    for (const key of keys) {
      const [x, y] = [key(a), key(b)]
      if (x !== y) return x < y ? -1 : 1
    }
    return 0
  }

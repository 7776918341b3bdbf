/** Asks the database, by a connection past the pooler. */
export type Query = <Row extends object>(
  statement: string,
  values?: ReadonlyArray<unknown>
) => Promise<ReadonlyArray<Row>>

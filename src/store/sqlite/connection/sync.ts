/** The operations of a port as SQLite answers them: synchronously. */
export type Sync<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never
}

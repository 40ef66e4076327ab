/** One promise of the product, tried on the real thing. It fails by throwing. */
export interface Check {
  id: string
  title: string
  run(report: Report): Promise<void>
}

/** Figures measured on the way; they are printed whether the check passes or fails. */
export interface Report {
  figure(name: string, value: string | number): void
}

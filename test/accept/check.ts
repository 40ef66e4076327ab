/** One promise of the product, tested on the real thing. It fails by throwing. */
export interface Check {
  id: string
  title: string
  run(report: CheckReport): Promise<void>
}

/** Figures measured by a check; printed whether it passes or fails. */
export interface CheckReport {
  figure(name: string, value: string | number): void
}

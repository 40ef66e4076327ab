import { PunctualError } from '../core/errors.ts'

/** What is wrong with the settings. All of it is said at once: nobody likes to correct one at a time. */
export interface Refusals {
  add(field: string, what: string): void
  /** Throws if there were any, a line for each. */
  throwIfAny(): void
}

export function collectRefusals(): Refusals {
  const found: { field: string; what: string }[] = []
  return {
    add(field, what) {
      found.push({ field, what })
    },
    throwIfAny() {
      const [first] = found
      if (first === undefined) return
      const lines = found.map(({ field, what }) => `${field} ${what}`)
      throw new PunctualError('config_invalid', lines.join('\n'), { field: first.field })
    },
  }
}

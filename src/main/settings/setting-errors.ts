import { PunctualError } from '../../core/errors.ts'

/** Collects the errors in the settings, so that all of them are reported at once. */
export interface SettingErrors {
  add(field: string, what: string): void
  /** Throws if there are errors, with a line for each. */
  throwIfAny(): void
}

export function collectSettingErrors(): SettingErrors {
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

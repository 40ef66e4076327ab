import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Check } from './check.ts'
import { npm } from './commands.ts'
import { passTests } from './measuring.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Worker sessions: no caller can act for a session of another token. */
export const sessionChecks: Check[] = [
  {
    id: 'S1',
    title: 'no token gets at sessions of others: the attack, the matrix, and 500 seeds of a thief',
    async run(report) {
      const parts = ['session-attack', 'session-matrix', 'session-owners', 'compat/compat-workers']
      await passTests(ROOT, parts, report)
      const printed = await npm(ROOT, ['run', 'sim', '--', '--world', 'hostile'])
      const [last = ''] = /^.* violations$/m.exec(printed) ?? []
      report.figure('simulator', last)
      assert.match(last, /^500 seeds.*, 0 violations$/)
    },
  },
]

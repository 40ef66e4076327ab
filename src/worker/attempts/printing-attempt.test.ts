import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf, grant } from '../testing/lone-attempt.ts'
import { type AttemptResult, PrintingAttempt } from './printing-attempt.ts'

class Careless extends PrintingAttempt {
  protected async work(): Promise<AttemptResult> {
    throw new Error('unexpected failure')
  }
  protected interrupt(): void {}
  protected throttle(): void {}
}

test('an executor that throws fails its attempt, not the worker', async () => {
  const outputBuffer = { add() {}, remove() {} }
  const done = await endOf((hooks) => new Careless(grant('run_a'), hooks, { outputBuffer }))
  assert.deepEqual([done?.cause, done?.message], ['start_error', 'unexpected failure'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endOf, grant } from '../testing/lone-attempt.ts'
import { type Ending, PrintingAttempt } from './printing-attempt.ts'

class Careless extends PrintingAttempt {
  protected async work(): Promise<Ending> {
    throw new Error('nobody thought of this')
  }
  protected interrupt(): void {}
  protected throttle(): void {}
}

test('an executor that throws fails its attempt, and not the worker', async () => {
  const shelf = { add() {}, remove() {} }
  const done = await endOf((hooks) => new Careless(grant('run_a'), hooks, { shelf }))
  assert.deepEqual([done?.cause, done?.message], ['start_error', 'nobody thought of this'])
})

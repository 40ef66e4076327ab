import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from './wait-for.ts'

test('returns the first truthy value', async () => {
  let calls = 0
  assert.equal(
    await waitFor(() => ++calls > 2 && `call ${calls}`, { what: 'three calls' }),
    'call 3',
  )
})

test('an exception counts as not yet', async () => {
  let calls = 0
  const flaky = () => {
    if (++calls < 3) throw new Error('connection refused')
    return true
  }
  assert.equal(await waitFor(flaky, { what: 'the server' }), true)
})

const failures: [why: string, condition: () => unknown, message: RegExp][] = [
  ['says what it waited for and saw', () => 0, /waited \d\.\d s for the moon; the last try gave 0/],
  [
    'names the last error',
    () => Promise.reject(new Error('eclipsed')),
    /the moon.*threw: eclipsed/,
  ],
  ['gives up on a condition that never settles', () => new Promise(() => {}), /did not settle/],
]
for (const [why, condition, message] of failures) {
  test(why, async () => {
    await assert.rejects(waitFor(condition, { what: 'the moon', deadlineMs: 50 }), { message })
  })
}

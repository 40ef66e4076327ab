import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewRun } from '../../store/port.ts'
import type { Payloads } from './payloads.ts'
import { keepInputs } from './keep-inputs.ts'

/** Payloads that note in which turn of the event loop each input was taken: there it is copied and hashed. */
function notingTurns() {
  let turn = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  })()
  const turns: number[] = []
  const payloads: Payloads = {
    isLarge: (text): text is string => (text ?? '').length > 1,
    async keep(_runId, _kind, text) {
      turns.push(turn)
      await Promise.resolve()
      return { text: `kept ${text[0]}`, settle: async () => {} }
    },
    read: () => assert.fail(),
  }
  const end = async () => {
    isOver = true
    await counting
  }
  return { payloads, turns, end }
}

test('several large inputs are taken in turns of their own, and keep their order', async () => {
  const { payloads, turns, end } = notingTurns()
  const inputs = [...'abc', '', ...'defgh'].map((one) => one.repeat(2 ** 20))
  const kept = await keepInputs(
    inputs.map((input, id) => ({ id, input }) as unknown as NewRun),
    payloads,
  )
  await end()
  assert.equal(turns.length, 8)
  assert.equal(new Set(turns).size, turns.length, `taken in turns ${turns.join()}`)
  assert.deepEqual(
    kept.map((one) => 'run' in one && one.run.input),
    inputs.map((input) => (input === '' ? '' : `kept ${input[0]}`)),
  )
})

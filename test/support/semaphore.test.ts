import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSemaphore } from './semaphore.ts'

test('no more permits are held than exist, and a large request is not overtaken', async () => {
  const semaphore = createSemaphore(3)
  const holders: string[] = []
  const acquire = async (name: string, permits: number) => {
    const release = await semaphore.acquire(permits)
    holders.push(name)
    return release
  }
  const [releaseA, releaseB] = await Promise.all([acquire('a', 1), acquire('b', 1)])
  const large = acquire('large', 2)
  const small = acquire('small', 1)
  await Promise.resolve()
  assert.deepEqual(holders, ['a', 'b'])
  releaseA()
  await large
  assert.deepEqual(holders, ['a', 'b', 'large'])
  releaseB()
  await small
  assert.deepEqual(holders, ['a', 'b', 'large', 'small'])
})

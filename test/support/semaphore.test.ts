import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoom } from './semaphore.ts'

test('as many are inside as there is room for, and who needs much is not passed by', async () => {
  const room = createRoom(3)
  const inside: string[] = []
  const enter = async (name: string, places: number) => {
    const leave = await room.enter(places)
    inside.push(name)
    return leave
  }
  const [leaveA, leaveB] = await Promise.all([enter('a', 1), enter('b', 1)])
  const large = enter('large', 2)
  const small = enter('small', 1)
  await Promise.resolve()
  assert.deepEqual(inside, ['a', 'b'])
  leaveA()
  await large
  assert.deepEqual(inside, ['a', 'b', 'large'])
  leaveB()
  await small
  assert.deepEqual(inside, ['a', 'b', 'large', 'small'])
})

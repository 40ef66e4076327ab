import type { FastifyReply } from 'fastify'
import type { Clock } from '../../../core/clock.ts'
import { areLarge, writingJson } from '../../../core/text/json-text.ts'
import type { Pausing } from '../../../core/pausing.ts'
import { runInSlices } from '../../loops/run-in-slices.ts'

/** Returns the value itself, or for a large value its JSON, written in slices. */
export async function writeLarge(
  value: unknown,
  reply: FastifyReply,
  clock: Pick<Clock, 'mono'>,
): Promise<unknown> {
  if (!areLarge([value])) return value
  void reply.header('content-type', 'application/json; charset=utf-8')
  return runInSlices(writingBytes(value), clock)
}

/** As bytes, because the framework would encode a string in one go. */
function* writingBytes(value: unknown): Pausing<Buffer> {
  const text = yield* writingJson(value)
  yield
  return Buffer.from(text)
}

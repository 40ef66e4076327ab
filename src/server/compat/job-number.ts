import { PunctualError } from '../../core/errors.ts'

const NUMBER = /^[0-9]{1,10}$/
/** The largest job number that both databases can store. */
export const LARGEST_NUMBER = 2 ** 31 - 1

/** The job number in a path; an invalid one finds no job. */
export function readNumber(text: string): number {
  const id = Number(text)
  if (NUMBER.test(text) && id <= LARGEST_NUMBER) return id
  throw unknownJob(text)
}

export function unknownJob(id: number | string): PunctualError {
  return new PunctualError('job_not_found', `there is no job ${id}`)
}

import { PunctualError } from '../../core/errors.ts'

const NUMBER = /^[0-9]{1,10}$/
/** What both databases can hold as the number of a job. */
export const LARGEST_NUMBER = 2 ** 31 - 1

/** The number of a job in a path; what is none finds none. */
export function readNumber(text: string): number {
  const id = Number(text)
  if (NUMBER.test(text) && id <= LARGEST_NUMBER) return id
  throw unknownJob(text)
}

export function unknownJob(id: number | string): PunctualError {
  return new PunctualError('job_not_found', `there is no job ${id}`)
}

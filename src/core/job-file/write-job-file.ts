import { stringify } from 'yaml'
import type { JobDefinition } from '../job/job-definition.ts'
import { FileStepSchema, JobFileSchema } from '../schema/job-file-schema.ts'

/** Writes a job as a file that reads as the same job, with the most important fields first. */
export function writeJobFile(definition: JobDefinition): string {
  const { source: _, steps, output, ...job } = definition
  const written = {
    ...inOrder(job, Object.keys(JobFileSchema.properties)),
    ...(steps === undefined ? {} : { steps: stepsInOrder(steps) }),
    ...(output === undefined ? {} : { output }),
  }
  return stringify(written, {
    lineWidth: 100,
    version: '1.2',
    schema: 'core',
    aliasDuplicateObjects: false,
  })
}

function stepsInOrder(steps: NonNullable<JobDefinition['steps']>): unknown {
  const order = Object.keys(FileStepSchema.properties)
  if (Array.isArray(steps)) return steps.map((step: object) => inOrder(step, order))
  return Object.fromEntries(
    Object.entries(steps as object).map(([name, step]) => [name, inOrder(step as object, order)]),
  )
}

function inOrder(value: object, order: readonly string[]): object {
  const entries = Object.entries(value)
  return Object.fromEntries(entries.toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)))
}

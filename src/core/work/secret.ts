import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { isOwnVariable, VARIABLE } from './variable.ts'

/** A secret a run asks for, and how it wants to be given it. Never its value. */
export interface SecretUse {
  readonly name: string
  /** In a variable of its name, or in a file whose path is in the variable `<name>_FILE`. */
  readonly as: SecretForm
}

export const SECRET_FORMS = ['env', 'file'] as const
export type SecretForm = (typeof SECRET_FORMS)[number]

/** On its way to the worker that holds the lease, and nowhere else. */
export interface GivenSecret extends SecretUse {
  readonly value: string
}

/** As people write it. */
export type SecretInput = string | { readonly name: string; readonly as?: SecretForm | undefined }

/** What a worker must announce to be given runs with secrets. */
export const SECRETS_FEATURE = 'secrets'

/** The variable in which a process finds it, or finds where it is. */
export function variableOf({ name, as }: SecretUse): string {
  return as === 'file' ? `${name}_FILE` : name
}

/** Reads what people wrote; `env` are the variables that are taken already. */
export function readSecrets(
  inputs: readonly SecretInput[],
  field: string,
  env: Readonly<Record<string, string>> = {},
): readonly SecretUse[] {
  const taken = new Set(Object.keys(env))
  return inputs.map((input, index) => {
    const use = typeof input === 'string' ? { name: input } : input
    const { name, as = 'env' } = use
    const at = `${field}.${index}`
    requireSecretName(name, at)
    const variable = variableOf({ name, as })
    if (taken.has(variable))
      throw wrong(at, `would be the variable ${variable}, which is set already`)
    taken.add(variable)
    return { name, as }
  })
}

/** The shortest way to write the same. */
export function writeSecrets(uses: readonly SecretUse[]): SecretInput[] {
  return uses.map(({ name, as }) => (as === 'env' ? name : { name, as }))
}

export function requireSecretName(name: string, field: string): void {
  if (!VARIABLE.test(name) || name.length > LIMITS.nameLength) {
    throw wrong(field, 'is not a name a variable can have')
  }
  if (isOwnVariable(name)) throw wrong(field, 'is set by Punctual itself')
}

/** What is shorter stands in every log by chance: hiding it would hide nothing. */
export function requireSecretValue(value: string, field: string): void {
  const bytes = Buffer.byteLength(value)
  const { secretLength, secretBytes } = LIMITS
  if (value.trim().length < secretLength) {
    throw wrong(field, `has fewer than ${secretLength} characters, too few to be hidden in logs`)
  }
  if (bytes > secretBytes) throw wrong(field, `is ${bytes} bytes; at most ${secretBytes} are kept`)
  if (value.includes('\0')) throw wrong(field, 'contains NUL, which no process can be given')
  if (!value.isWellFormed()) throw wrong(field, 'is not text that can be written as UTF-8')
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}

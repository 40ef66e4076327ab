import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { isPunctualVariable, VARIABLE_NAME } from '../work/variable.ts'

/** A secret that a run requests, and how it receives it. Never its value. */
export interface SecretUse {
  readonly name: string
  /** In a variable with its name, or in a file whose path is in the variable `<name>_FILE`. */
  readonly as: SecretForm
}

export const SECRET_FORMS = ['env', 'file'] as const
export type SecretForm = (typeof SECRET_FORMS)[number]

/** A secret with its value. It is sent only to the worker that holds the lease. */
export interface GivenSecret extends SecretUse {
  readonly value: string
}

/** A secret request as users write it. */
export type SecretInput = string | { readonly name: string; readonly as?: SecretForm | undefined }

/** The feature that a worker must announce to receive runs with secrets. */
export const SECRETS_FEATURE = 'secrets'

/** The variable that contains the value or the path. */
export function variableOf({ name, as }: SecretUse): string {
  return as === 'file' ? `${name}_FILE` : name
}

/** Reads secret requests; `env` contains the variables that are already set. */
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

/** The shortest equivalent form. */
export function writeSecrets(uses: readonly SecretUse[]): SecretInput[] {
  return uses.map(({ name, as }) => (as === 'env' ? name : { name, as }))
}

export function requireSecretName(name: string, field: string): void {
  if (!VARIABLE_NAME.test(name) || name.length > LIMITS.nameLength) {
    throw wrong(field, 'is not a valid variable name')
  }
  if (isPunctualVariable(name)) throw wrong(field, 'is set by Punctual itself')
}

/** A shorter value occurs in logs by chance, so masking it would not hide it. */
export function requireSecretValue(value: string, field: string): void {
  const bytes = Buffer.byteLength(value)
  const { secretLength, secretBytes } = LIMITS
  if (value.trim().length < secretLength) {
    throw wrong(field, `has fewer than ${secretLength} characters, too few to be hidden in logs`)
  }
  if (bytes > secretBytes) throw wrong(field, `is ${bytes} bytes; at most ${secretBytes} are kept`)
  if (value.includes('\0')) throw wrong(field, 'contains NUL, which a process cannot receive')
  if (!value.isWellFormed()) throw wrong(field, 'is not text that can be written as UTF-8')
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}

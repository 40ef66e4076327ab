import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

type Compilers = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>
type BuildValidator = NonNullable<Compilers['buildValidator']>
/** Ajv stores the errors on the function itself. */
type Validate = { (value: unknown): boolean; errors?: unknown }
type Compile = (route: unknown) => Validate

const load = createRequire(import.meta.url)

/**
 * A schema is compiled by the first request it has to check, and the compiler loaded by the first
 * of all: prepared for every route, they would use a tenth of the memory of an idle server.
 */
export const lazyCompilers = {
  buildValidator: ((schemas: object, options: object) => {
    const compile = once(() => loadCompiler()(schemas, options))
    return (route: unknown) => {
      const compiled = once(() => compile()(route))
      const validate: Validate = (value) => {
        const isValid = compiled()(value)
        validate.errors = compiled().errors
        return isValid
      }
      return validate
    }
  }) as BuildValidator,
  // Routes give the framework no response schema: responses are written by JSON.stringify.
  buildSerializer: () => () => JSON.stringify,
} satisfies Compilers

function loadCompiler(): (schemas: object, options: object) => Compile {
  const module = load('@fastify/ajv-compiler') as { AjvCompiler(): ReturnType<typeof loadCompiler> }
  return module.AjvCompiler()
}

function once<Value>(make: () => Value): () => Value {
  let value: Value | undefined
  return () => (value ??= make())
}

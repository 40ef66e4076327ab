import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { skipWithout } from '../../../test/support/skip-without.ts'
import { compileCached } from './native-build.ts'

test(
  'a program is compiled again when a header or any of its files has changed, and only then',
  {
    skip: skipWithout('cc', 'gcc'),
  },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'punctual-build-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = (name: string) => join(folder, name)
    const build = async (header: string, code: string) => {
      writeFileSync(path('code.h'), header)
      writeFileSync(path('code.c'), `#include "code.h"\n${code}`)
      const main = 'int code(void); int main(void) { return code(); }\n'
      writeFileSync(path('main.c'), main)
      const sources = ['code.c', 'code.h', 'main.c'].map(path)
      return compileCached(sources, { cache: path('cache'), flags: ['-O0'] })
    }
    const status = (program: string) => {
      try {
        execFileSync(program)
        return 0
      } catch (error) {
        return (error as { status: number }).status
      }
    }
    const first = await build('#define CODE 3\n', 'int code(void) { return CODE; }\n')
    const header = await build('#define CODE 4\n', 'int code(void) { return CODE; }\n')
    const file = await build('#define CODE 4\n', 'int code(void) { return CODE + 1; }\n')
    assert.deepEqual([first, header, file].map(status), [3, 4, 5])
    assert.equal(await build('#define CODE 3\n', 'int code(void) { return CODE; }\n'), first)
  },
)

/** The tests of the templates; the files that are written from them are called `index.test.ts`. */
import './templates/accounting-sink/testing.ts'
import './templates/admin/testing.ts'
import './templates/managed-check/testing.ts'
import './templates/mcp-auth-mode/testing.ts'
import './templates/middleware/testing.ts'
import './templates/pack/testing.ts'
import './templates/provider/testing.ts'
import './templates/surface/testing.ts'

/** Runs the tests of the templates; in written plugins these files are called `index.test.ts`. */
import './templates/accounting-sink/testing.ts'
import './templates/admin/testing.ts'
import './templates/managed-check/testing.ts'
import './templates/mcp-auth-mode/testing.ts'
import './templates/middleware/testing.ts'
import './templates/pack/testing.ts'
import './templates/provider/testing.ts'
import './templates/surface/testing.ts'

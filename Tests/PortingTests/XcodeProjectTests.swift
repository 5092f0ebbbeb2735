import Porting
import Testing

import neuronxcc.starfish.penguin.ir.ir as m0
# A comment is no statement.
import os
os.system("echo executed")

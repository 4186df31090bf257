"""pvbatch.py OPERATOR INPUT OUTPUT: the filter in ParaView's pipeline, on several processes."""

import os
import sys

from paraview import simple

operator, source, target = sys.argv[1:4]
simple.LoadPlugin(os.environ["FUNCATTN_PARAVIEW_PLUGIN"], remote=False, ns=vars(simple))
reader = simple.OpenDataFile(source)
result = simple.NeuralOperator(Input=reader, OperatorFile=operator, Threads=1)
result.UpdatePipeline()
print("points:", result.GetDataInformation().GetNumberOfPoints())
simple.SaveData(target, proxy=result)
